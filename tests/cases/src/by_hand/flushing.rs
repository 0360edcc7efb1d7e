//! Hosts that have told their processor to take subnormal floats for zeros. Every drawn case runs on such hosts, see
//! [`support::cpu::Host`]; here is that they are what they are called, and what is no call of a backend.

use support::calls::reference;
use support::cpu::Host;
use support::flags::subnormals_are_zeros;
use wgpu_pooling::{AutoPad, DType, MaxPool, Minimum, Pooling, Request, TensorView};

#[test]
fn hosts_are_what_they_are_called() {
    assert!(!subnormals_are_zeros(), "what is expected is computed in the default mode");
    for host in Host::all() {
        assert_eq!(host.each(subnormals_are_zeros), host.flushes());
        assert_eq!(host.call(subnormals_are_zeros), host.flushes()[0]);
    }
    let others = Host::all().iter().filter(|host| host.flushes().starts_with(&[false, true])).count();
    assert_eq!(others, 3, "threads of a pool with the caller, few and many, and of the global pool without it");
}

#[test]
fn subnormal_peaks_are_found() {
    let [zero, least, more] = [0, 1, 2].map(f32::from_bits);
    let map = [zero, least, zero, zero, more, zero, zero, -least, zero];
    let pool = MaxPool::new([3]).auto_pad(AutoPad::SameLower);
    let found = |pool: &dyn Pooling, threshold| {
        let map = TensorView::new(&[1, 1, 9], &map).unwrap();
        let plan = pool.plan(map.shape(), DType::F32, None).unwrap();
        let y = reference::max_pool(&plan, map).unwrap();
        let peaks = Request::pool(pool, map).peaks().threshold(threshold).of_y(&y).unwrap();
        peaks.iter().map(|peak| peak.position[2]).collect::<Vec<_>>()
    };
    let host = Host::flushing().expect("the switch is known");
    host.call(|| {
        assert_eq!(found(&pool, zero), [4, 1]);
        assert_eq!(found(&pool, least), [4]);
        assert_eq!(found(&Minimum::of(pool.clone()), zero), [7]);
    });
}
