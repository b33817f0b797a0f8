package io.softdpu.block.file;

import io.softdpu.block.spi.DeviceUri;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Path and options of a file volume.
 *
 * @param file the file or block device
 * @param direct whether the page cache is bypassed
 * @param sync whether every write is durable when it completes
 * @param readOnly whether the blocks are only read
 * @param createBytes size of the file if it is missing; 0 to create none
 * @param threads number of threads; 0 for io_uring, or for threads where that is refused
 * @param lockWait time that an open waits for the lock of another process
 */
record FileOptions(
        Path file,
        boolean direct,
        boolean sync,
        boolean readOnly,
        long createBytes,
        int threads,
        Duration lockWait) {
    private static final String LOCK_WAIT = "lock_wait";

    /** How URIs look, for messages. */
    static final String FORM =
            "file:PATH?direct&sync&readonly&create=SIZE&threads=N&"
                    + LOCK_WAIT
                    + "=SECONDS, each option if wanted";

    /** Limit of threads of a device. */
    static final int MAX_THREADS = 64;

    /** A restart of a process whose requests are still in the kernel needs no pause. */
    private static final Duration DEFAULT_LOCK_WAIT = Duration.ofSeconds(2);

    private static final long MAX_LOCK_WAIT_SECONDS = 1_000_000_000;

    /** Flags of an open file for requests. */
    int accessFlags() {
        return (readOnly ? FileDescriptors.O_RDONLY : FileDescriptors.O_RDWR)
                | (direct ? FileDescriptors.O_DIRECT : 0);
    }

    /**
     * Reads a URI.
     *
     * @throws io.softdpu.core.DpuException INVALID_VALUE for an option that is unknown, wrong,
     *     given twice, or excluded by another
     */
    static FileOptions of(DeviceUri uri) {
        int mark = uri.rest().indexOf('?');
        String path = mark < 0 ? uri.rest() : uri.rest().substring(0, mark);
        if (path.isEmpty()) {
            throw uri.refused("path is empty");
        }
        Path file = GivenText.path("", path, uri::refused);
        Set<String> given = new HashSet<>();
        long createBytes = 0;
        int threads = 0;
        Duration lockWait = DEFAULT_LOCK_WAIT;
        String[] options = mark < 0 ? new String[0] : uri.rest().substring(mark + 1).split("&", -1);
        for (String option : options) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            String value = equals < 0 ? "" : option.substring(equals + 1);
            switch (name) {
                case "direct", "sync", "readonly" -> {
                    if (equals >= 0) {
                        throw uri.refused("option has no value, option=" + shown(option));
                    }
                }
                case "create" -> createBytes = uri.size(value);
                case "threads" -> threads = (int) number(uri, option, value, 1, MAX_THREADS);
                case LOCK_WAIT ->
                        lockWait =
                                Duration.ofSeconds(
                                        number(uri, option, value, 0, MAX_LOCK_WAIT_SECONDS));
                default -> throw uri.refused("no such option, option=" + shown(option));
            }
            if (!given.add(name)) {
                throw uri.refused("option is given twice, option=" + shown(option));
            }
        }
        boolean readOnly = given.contains("readonly");
        for (String other : new String[] {"sync", "create"}) {
            if (readOnly && given.contains(other)) {
                throw uri.refused("readonly excludes option=" + other);
            }
        }
        return new FileOptions(
                file,
                given.contains("direct"),
                given.contains("sync"),
                readOnly,
                createBytes,
                threads,
                lockWait);
    }

    private static long number(DeviceUri uri, String option, String value, long min, long max) {
        try {
            long number = Text.parseLong(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // refused as one that is out of range
        }
        throw uri.refused("not a number from " + min + " to " + max + ", option=" + shown(option));
    }

    private static String shown(String option) {
        return ForeignText.escapeAndCut(option);
    }
}
