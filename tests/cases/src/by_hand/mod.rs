//! Small cases worked out by hand: the rules that no recorded run of another runtime shows. Each test's comment has the
//! arithmetic. Every case is computed by the reference, by the CPU backend in every kernel that applies and, in the
//! binary `device`, by the GPU in every kernel family that applies.

mod activation;
mod both;
mod compositions;
mod far;
mod ignore;
mod inverse;
mod pool;
mod presets;
mod sizes;
mod unpool;

use libtest_mimic::Trial;

pub fn tests() -> Vec<Trial> {
    let lists = [
        activation::tests(),
        compositions::tests(),
        far::tests(),
        ignore::tests(),
        inverse::tests(),
        pool::tests(),
        presets::tests(),
        sizes::tests(),
        unpool::tests(),
    ];
    lists.into_iter().flatten().collect()
}
