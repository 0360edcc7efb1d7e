// Relu and Clip, exact for every element type: thresholds are elements, and elements are compared by their keys. NaN is
// left alone, and so is -0 at a threshold of 0.
// provides: activate
// requires: Raw, is_nan, key, greater, from_pair, activation_parameters
fn activate(raw: Raw) -> Raw {
  let parameters = activation_parameters();
  var kept = raw;
  if (!is_nan(raw)) {
    if (greater(key(from_pair(parameters.low_threshold)), key(raw))) {
      kept = from_pair(parameters.low_value);
    } else if (greater(key(raw), key(from_pair(parameters.high_threshold)))) {
      kept = from_pair(parameters.high_value);
    }
  }
  return kept;
}
