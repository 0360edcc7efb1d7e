// A `select` of four integers by four conditions. The built-in one becomes an integer `mix` in GLSL, which only OpenGL
// 4.5 and later have. Drivers split vectors into lanes in any case.
// provides: pick
// requires: nothing
fn pick(otherwise: vec4<u32>, chosen: vec4<u32>, which: vec4<bool>) -> vec4<u32> {
  return vec4<u32>(
    select(otherwise.x, chosen.x, which.x),
    select(otherwise.y, chosen.y, which.y),
    select(otherwise.z, chosen.z, which.z),
    select(otherwise.w, chosen.w, which.w),
  );
}
