// Unpools where an index outside its own window is skipped.
// provides: tell_outside
// requires: nothing
fn tell_outside(outside: vec4<bool>, position: u32, step: u32) {
}
