// No activation.
// provides: activate
// requires: Raw
fn activate(raw: Raw) -> Raw {
  return raw;
}
