package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.ProcessLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Program that uses file volumes under a limit of its process. Prints a line for each, and one that
 * begins with PROBLEM for each unexpected result.
 *
 * <p>Arguments: what to do, and a folder.
 */
final class FileLimitsProgram {
    /** Limit of the size of a file in bytes; the memory for bufs is one, too. */
    static final long FILE_BYTES = 16 << 20;

    /** Size of a volume that is larger. */
    static final long LARGE_BYTES = FILE_BYTES + (4 << 20);

    /** Options of the volumes. */
    static final List<String> OPTIONS = List.of("", "&direct", "&threads=2");

    private static final int BLOCK_BYTES = 4096;
    private static final int ENOUGH = 60;
    private static final Pattern NO_DESCRIPTOR =
            Pattern.compile("\\bEMFILE\\b|\\bToo many open files\\b");

    private final Device device;
    private final Path folder;

    private FileLimitsProgram(Device device, Path folder) {
        this.device = device;
        this.folder = folder;
    }

    /** Runs to its end. */
    public static void main(String[] arguments) throws Throwable {
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open()) {
            FileLimitsProgram program = new FileLimitsProgram(device, Path.of(arguments[1]));
            switch (arguments[0]) {
                case "size" -> program.writeBeyondTheLimit();
                case "descriptors" -> program.openWithFewDescriptors();
                case "memory" -> program.useEach();
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }
        System.out.println("DONE");
    }

    private String uri(String options) {
        return "file:" + folder.resolve("volume") + "?create=" + LARGE_BYTES + options;
    }

    private BlockDevice open(String options) {
        BlockDevice volume = BlockDevice.open(uri(options), BLOCK_BYTES);
        boolean attached = false;
        try {
            volume.attach(device);
            attached = true;
            return volume;
        } finally {
            if (!attached) {
                volume.close();
            }
        }
    }

    // ---- size of files ----

    private void writeBeyondTheLimit() throws IOException {
        byte[] bytes = new byte[2 * BLOCK_BYTES];
        Arrays.fill(bytes, (byte) 7);
        for (String options : OPTIONS) {
            try (BlockDevice volume = open(options);
                    Submitter submitter = Submitter.start(volume, 4)) {
                System.out.println(
                        "within="
                                + submitter.write(0, bytes, false)
                                + " across="
                                + submitter.write(FILE_BYTES - BLOCK_BYTES, bytes, false)
                                + " beyond="
                                + submitter.write(FILE_BYTES, bytes, false)
                                + " fua="
                                + submitter.write(FILE_BYTES, bytes, true)
                                + " flush="
                                + submitter.flush()
                                + " read="
                                + submitter.read(FILE_BYTES, bytes.length, 0)
                                + " again="
                                + submitter.write(0, bytes, true));
                submitter.stop();
            }
        }
        try {
            BlockDevice.open("file:" + folder.resolve("new") + "?create=" + LARGE_BYTES).close();
            System.out.println("PROBLEM created");
        } catch (DpuException e) {
            System.out.println(e.getMessage());
        }
        System.out.println("files=" + files());
    }

    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    // ---- descriptors ----

    private void openWithFewDescriptors() throws Throwable {
        ProcessLimit.prepare();
        for (String options : OPTIONS) {
            for (int i = 0; i < 2; i++) { // what is made at the first use stays
                attempt(options, ENOUGH);
            }
            System.gc(); // what a Cleaner gives back would count as given back below
            int free = 0;
            String ended;
            do {
                LeakCheck before = LeakCheck.begin(folder);
                ended = attempt(options, free);
                System.out.println("options=" + options + " free=" + free + " " + ended);
                before.assertNothingLeft();
                free++;
            } while (!ended.equals(options.contains("threads") ? "threads" : "io_uring")
                    && free < ENOUGH);
            if (free == 1 || free == ENOUGH) {
                System.out.println("PROBLEM options=" + options + " free=" + free);
            }
        }
    }

    /** The method of a new volume that was used with so many free descriptors, or the failure. */
    private String attempt(String options, int free) throws Throwable {
        Files.deleteIfExists(folder.resolve("volume"));
        String ended;
        ProcessLimit.DESCRIPTORS.lower(free);
        try (BlockDevice volume = open(options)) {
            ended = use(volume);
            if (ended.startsWith("threads") && !options.contains("threads")) {
                ended = named(volume.toString());
            }
        } catch (DpuException e) {
            ended = named(e.status() + ": " + e.getMessage());
        } catch (ServiceConfigurationError e) { // a folder of classes lists providers in a file
            ended = named(e + ", " + e.getCause());
        } finally {
            ProcessLimit.DESCRIPTORS.raise();
        }
        if (!List.of("volume").containsAll(files())) {
            System.out.println("PROBLEM left behind: files=" + files());
        }
        return ended;
    }

    private static String named(String text) {
        if (!NO_DESCRIPTOR.matcher(text).find()) {
            System.out.println("PROBLEM does not name it: " + text);
        }
        return text;
    }

    // ---- any ----

    private void useEach() {
        for (String options : OPTIONS) {
            try (BlockDevice volume = open(options)) {
                System.out.println(use(volume) + " " + volume);
            }
        }
    }

    /** The method of a volume that was written, flushed and read. */
    private static String use(BlockDevice volume) {
        byte[] bytes = new byte[2 * BLOCK_BYTES];
        Arrays.fill(bytes, (byte) 9);
        try (Submitter submitter = Submitter.start(volume, 4)) {
            submitter.write(BLOCK_BYTES, bytes);
            Status flushed = submitter.flush();
            if (flushed != Status.SUCCESS
                    || !Arrays.equals(submitter.bytes(BLOCK_BYTES, bytes.length), bytes)) {
                System.out.println("PROBLEM flush=" + flushed + ", or other bytes: " + volume);
            }
            submitter.stop();
        }
        return volume.method();
    }
}
