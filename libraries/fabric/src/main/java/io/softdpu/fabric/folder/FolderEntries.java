package io.softdpu.fabric.folder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Names of the files that softdpu creates in a fabric folder. The folder holds nothing else, so
 * that a folder with another purpose is recognised before a file is created in it.
 *
 * <p>Any thread.
 */
final class FolderEntries {
    static final String TOPOLOGY_FILE = "topology";
    static final String HOTPLUG_FILE = "hotplug";

    private static final Set<String> FIXED =
            Set.of(
                    TOPOLOGY_FILE,
                    HOTPLUG_FILE,
                    HOTPLUG_FILE + SharedTextFile.LOCK_SUFFIX,
                    HOTPLUG_FILE + SharedTextFile.NEW_SUFFIX);

    private static final Pattern OF_SERVED_NAME = Pattern.compile("[0-9a-f]{16}\\.(lock|sock)");

    /**
     * Limit of entries that are examined. Reading a folder costs by its size, and one that begins
     * with this many own files is a fabric folder.
     */
    private static final int SCAN_LIMIT = 4096;

    private FolderEntries() {}

    /** True for the name of a file that softdpu creates. */
    static boolean isOwn(String name) {
        return FIXED.contains(name) || OF_SERVED_NAME.matcher(name).matches();
    }

    /**
     * The first entry that softdpu does not create.
     *
     * @param folder the folder, or its open descriptor in {@code /proc/self/fd}
     * @return its name; empty if there is none among the first 4,096 entries
     * @throws UncheckedIOException if the folder cannot be read
     */
    static Optional<String> firstForeign(Path folder) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            int seen = 0;
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                if (!isOwn(name)) {
                    return Optional.of(name);
                }
                if (++seen == SCAN_LIMIT) {
                    break;
                }
            }
            return Optional.empty();
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
