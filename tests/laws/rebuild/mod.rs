//! Laws 5 and 10: a rebuild puts right what differs, says what it was, takes nothing back, and sends nothing.

mod all;
mod kept;
mod races;
mod repairs;
mod strategies;
mod world;
