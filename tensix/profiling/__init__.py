"""What becomes of watched memory: profiles, recordings, snapshots, advice and the page; public in `tensix.memory`."""
