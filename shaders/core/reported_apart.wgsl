// The value of the first bad index is looked up by a kernel of its own, so that this one binds neither indices nor the report: for
// devices with four storage buffers.
// provides: report_first
// requires: nothing
fn report_first() {}
