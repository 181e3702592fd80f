"""Games as users hold them: a class for each kind, of which `Game` finds the right one."""
