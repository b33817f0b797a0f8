package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;

/**
 * Process at the other end of a connection, as the kernel recorded it when the connection was
 * established (SO_PEERCRED). The peer cannot choose these values. They are not updated: the process
 * may have ended since, and its id may belong to another.
 *
 * @param pid its process id in this process's pid namespace; 0 if it has none there, as for a
 *     process outside this container
 * @param uid its effective user id in this process's user namespace, 0 to 4,294,967,294
 * @see ComchConnection#peer()
 */
public record ComchPeer(int pid, long uid) {
    private static final long MAX_UID = 0xFFFF_FFFEL;

    /**
     * Creates the record, for example for a comparison.
     *
     * @throws DpuException INVALID_VALUE if a value is out of range
     */
    public ComchPeer {
        if (pid < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("out of range: pid=%d, expected=0 or more", pid));
        }
        if (uid < 0 || uid > MAX_UID) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("out of range: uid=%d, expected=0 to %d", uid, MAX_UID));
        }
    }

    /** The peer with the kernel's values, of which the user id is unsigned. */
    static ComchPeer of(int pid, int uid) {
        return new ComchPeer(pid, Integer.toUnsignedLong(uid));
    }
}
