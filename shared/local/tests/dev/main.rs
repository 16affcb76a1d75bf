//! The built `lastword` command, as a person or a script uses it: its answers, its exit codes, and what
//! survives when it is killed.

#[cfg(test)]
mod bench;
#[cfg(test)]
mod check;
mod effects;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod rebuild;
#[cfg(test)]
mod stack;
#[cfg(test)]
mod subjects;
