from . import figures as figures
from .baselines import builtin as builtin
from .contest.tournament import Standing as Standing
from .evaluation.hidden import belief as belief
from .evaluation.hidden import reach as reach
from .evaluation.hidden import values as values
from .evaluation.tablebase import Tablebase as Tablebase
from .evaluation.tablebase import solve as solve
from .evaluation.win_rates import mover_value as mover_value
from .evaluation.win_rates import win_rate as win_rate
from .model.game import Game as Game
from .model.game import compile_game as compile_game
from .model.workspace import WinRate as WinRate
from .response.bounds import Interval as Interval
from .response.bounds import exploitability as exploitability
from .response.bounds import full_memory_bound as full_memory_bound
from .response.gains import Gains as Gains
from .response.gains import gains as gains
from .response.search import ResponseFound as ResponseFound
from .response.search import SearchBudget as SearchBudget
from .response.search import attack as attack
from .rules.edition import EDITIONS as EDITIONS
from .rules.edition import Rules as Rules
from .rules.edition import describe as describe
from .rules.edition import rules_from as rules_from
from .runs.config import load_config as load_config
from .runs.runner import run_experiment as run_experiment
from .runs.summary import RunSummary as RunSummary
from .solvers import SOLVERS as SOLVERS
from .strategies.read import read_strategy as read_strategy
from .strategies.write import export_python as export_python
from .strategies.write import write_strategy as write_strategy
from .support.workers import workers as workers
from .trees.audit import audit as audit
from .trees.recall import Audit as Audit

__version__: str
__all__: list[str]
