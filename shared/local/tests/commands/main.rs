//! The commands for who adds a provider or tries an endpoint: `contracts`, `sign`, `send`, `vectors`, as a
//! person or a script uses them.

#[cfg(test)]
mod bench;
#[cfg(test)]
mod contracts;
#[cfg(test)]
mod everybody;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod sending;
#[cfg(test)]
mod signing;
#[cfg(test)]
mod vectors;
