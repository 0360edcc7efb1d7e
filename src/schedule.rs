#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    Direct,
}
