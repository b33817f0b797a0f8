package io.softdpu.comch;

/**
 * Process at the other end of a connection, as the kernel recorded it when the connection was
 * established (SO_PEERCRED). The peer cannot choose these values. They are not updated: the process
 * may have ended since, and its id may belong to another.
 *
 * @param pid its process id in this process's pid namespace; 0 if it has none there, as for a
 *     process outside this container
 * @param uid its effective user id in this process's user namespace
 * @see ComchConnection#peer()
 */
public record ComchPeer(int pid, int uid) {}
