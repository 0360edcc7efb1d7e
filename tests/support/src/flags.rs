//! The processor's switch for subnormal floats. Each thread has its own.

/// Whether this file knows the switch of the target.
pub const KNOWN: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Has this thread take subnormal floats for zeros, as operands and as results, until it ends. Rust's own rules ask for
/// the default mode; programs that mix languages break them, and this crate's results must not depend on it.
#[cfg(target_arch = "x86_64")]
pub fn take_subnormals_for_zeros() {
    let mut modes = 0u32;
    // SAFETY: the instruction stores the 32 bits of MXCSR to a local variable of 32 bits.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut modes, options(nostack)) };
    // Subnormal operands are zeros (bit 6), and so are subnormal results (bit 15).
    modes |= 0x8040;
    // SAFETY: the instruction loads MXCSR from a local variable of 32 bits. The value is what the register held and two
    // bits that every x86-64 processor with SSE3 has, so no reserved bit is set.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const modes, options(nostack)) };
}

/// Has this thread take subnormal floats for zeros, as operands and as results, until it ends. Rust's own rules ask for
/// the default mode; programs that mix languages break them, and this crate's results must not depend on it.
#[cfg(target_arch = "aarch64")]
pub fn take_subnormals_for_zeros() {
    let mut modes: u64;
    // SAFETY: the instruction reads FPCR, which every thread may.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) modes, options(nomem, nostack)) };
    // FZ is bit 24; FZ16, bit 19, is the same for arithmetic in f16, where there is such.
    modes |= 1 << 24 | 1 << 19;
    // SAFETY: the instruction writes FPCR, which every thread may; a bit that the processor lacks is ignored.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) modes, options(nomem, nostack)) };
}

/// There is nothing to switch, and no test asks for it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn take_subnormals_for_zeros() {}

/// Whether arithmetic and comparisons of this thread take subnormal floats for zeros.
pub fn subnormals_are_zeros() -> bool {
    let [single, double] = [std::hint::black_box(f32::from_bits(1)).into(), std::hint::black_box(f64::from_bits(1))];
    let halved = std::hint::black_box(f32::MIN_POSITIVE) * std::hint::black_box(0.5);
    halved.to_bits() == 0 && single == 0.0f64 && double == 0.0
}
