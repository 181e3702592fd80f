// The second screen: any position, and all that is known of it.

screen("know", "Know", {
  mount(root, board) {
    root.append(h("p", {}, "…"));
  },
});
