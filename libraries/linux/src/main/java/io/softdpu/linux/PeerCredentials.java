package io.softdpu.linux;

/**
 * Process and user of the peer of a Unix socket at the time of its connection (SO_PEERCRED).
 * Provided by the kernel; not updated when the descriptor is passed to another process later.
 *
 * @param pid the process, as seen from this process's pid namespace
 * @param uid its effective user
 */
public record PeerCredentials(int pid, int uid) {}
