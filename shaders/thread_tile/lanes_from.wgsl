// Lanes from elements.

//// lanes_from_four when BYTES <= 4: Four elements side by side.
// provides: lanes_from
// requires: Lane, Lanes
fn lanes_from(a: Lane, b: Lane, c: Lane, d: Lane) -> Lanes {
  return vec4<i32>(a, b, c, d);
}

//// lanes_from_pairs when BYTES == 8: Four elements of 64 bits side by side.
// provides: lanes_from
// requires: Lane, Lanes
fn lanes_from(a: Lane, b: Lane, c: Lane, d: Lane) -> Lanes {
  return Lanes(vec4<u32>(a.x, b.x, c.x, d.x), vec4<u32>(a.y, b.y, c.y, d.y));
}
