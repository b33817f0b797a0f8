package io.softdpu.fabric.folder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Process that holds a lock of a file, as the kernel lists the locks of flock: asking it costs the
 * holder nothing. For messages; any thread.
 */
final class LockHolder {
    private static final Path LOCKS = Path.of("/proc/locks");

    private LockHolder() {}

    /**
     * The process that holds an exclusive lock of a file.
     *
     * @return 0 if there is none or the kernel does not name it, as that of a process of another
     *     container
     */
    static long pidOf(Path file) {
        try {
            return pidOf(idOf(file), Files.readAllLines(LOCKS));
        } catch (IOException e) {
            return 0; // no procfs, or no descriptor left: the message does without a process
        }
    }

    /** The device and the inode, as the list names them. */
    private static String idOf(Path file) throws IOException {
        long device = ((Number) Files.getAttribute(file, "unix:dev")).longValue();
        long inode = ((Number) Files.getAttribute(file, "unix:ino")).longValue();
        long major = (device >>> 8 & 0xfff) | (device >>> 32 & ~0xfffL);
        long minor = (device & 0xff) | (device >>> 12 & 0xffff_ff00L);
        return hex(major) + ":" + hex(minor) + ":" + inode;
    }

    /** At least two digits. */
    private static String hex(long number) {
        String digits = Long.toHexString(number);
        return digits.length() < 2 ? "0" + digits : digits;
    }

    /**
     * The process of a line as {@code 1: FLOCK ADVISORY WRITE 4711 00:1b:42 0 EOF}.
     *
     * @param file {@code MAJOR:MINOR:INODE}
     */
    static long pidOf(String file, List<String> locks) {
        for (String lock : locks) {
            String[] fields = lock.trim().split("\\s+");
            if (fields.length > 5
                    && fields[1].equals("FLOCK")
                    && fields[3].equals("WRITE")
                    && fields[5].equals(file)) {
                return pid(fields[4]);
            }
        }
        return 0;
    }

    private static long pid(String field) {
        return field.matches("[0-9]{1,18}") ? Long.parseLong(field) : 0; // -1: not visible here
    }
}
