package io.softdpu.linux;

/**
 * Who was at the other end of a Unix socket when it was connected (SO_PEERCRED). The kernel vouches
 * for it; it does not follow a descriptor that is handed on to another process later.
 *
 * @param pid the process, as seen from this process's pid namespace
 * @param uid its effective user
 */
public record PeerCredentials(int pid, int uid) {}
