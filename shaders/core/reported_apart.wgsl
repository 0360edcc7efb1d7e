// For devices with four storage buffers: a separate kernel looks up the value of the first bad index, so that this
// kernel binds neither the indices nor the report.
// provides: report_first
// requires: nothing
fn report_first() {}
