// The parameters of an activation in a uniform.
// provides: Activation
// requires: nothing
struct Activation {
  // Clip: elements below the threshold become the value.
  low_threshold: vec2<u32>,
  low_value: vec2<u32>,
  // Clip: elements above the threshold become the value.
  high_threshold: vec2<u32>,
  high_value: vec2<u32>,
  // LeakyRelu and HardSigmoid: the bits of their f32 parameters.
  alpha: u32,
  beta: u32,
  reserved: vec2<u32>,
}
