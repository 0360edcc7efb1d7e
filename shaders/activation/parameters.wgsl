// The parameters of an activation, as they stand in a uniform.
// provides: Activation
// requires: nothing
struct Activation {
  // Clip: elements below the threshold become the value. Otherwise alpha and beta, as bits of f32.
  low_threshold: vec2<u32>,
  low_value: vec2<u32>,
  // Clip: elements above the threshold become the value.
  high_threshold: vec2<u32>,
  high_value: vec2<u32>,
}
