// Writing lanes as outputs.

//// put_one_lane: One output.
// provides: put_lanes
// requires: Numbers, activate, y
fn put_lanes(number: u32, raws: Numbers) {
  y[number] = activate(raws);
}

//// put_four_lanes: Four outputs.
// provides: put_lanes
// requires: Numbers, Elements, activate, put_four
fn put_lanes(number: u32, raws: Numbers) {
  put_four(number, Elements(activate(raws.x), activate(raws.y), activate(raws.z), activate(raws.w)));
}
