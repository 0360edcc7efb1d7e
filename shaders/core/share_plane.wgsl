// An invocation's share of a window that is a whole plane of X, a contiguous run.
// provides: TeamWindow, team_window, share
// requires: pool, Acc, run, TEAM
struct TeamWindow {
  // The position of the window's first element, valid if `seen`.
  first: u32,
  seen: bool,
}

fn team_window(output: u32) -> TeamWindow {
  return TeamWindow(output * pool.axes[2].input, true);
}

fn share(window: TeamWindow, member: u32) -> Acc {
  return run(window.first, window.first + pool.axes[2].input, member, TEAM);
}
