package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * A uid that is neither root nor that of the test, for tests of permissions: root is refused
 * nothing. Any thread.
 */
public final class OtherUser {

    private static final int NOBODY = 65534;

    private final int uid;
    private final Path setpriv;

    private OtherUser(int uid, Path setpriv) {
        this.uid = uid;
        this.setpriv = setpriv;
    }

    /**
     * The user nobody. Where the test does not run as root, or setpriv (util-linux) is not
     * installed, the test is skipped, and standard error says so.
     *
     * @return a user that {@link JavaCommand#as(OtherUser)} takes
     */
    public static OtherUser nobody() {
        if (ownUid() != 0) {
            throw skipped("only root may start a process of another user: uid=" + ownUid());
        }
        String searchPath = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
        Path setpriv =
                Stream.of(searchPath.split(":"))
                        .map(folder -> Path.of(folder, "setpriv"))
                        .filter(Files::isExecutable)
                        .findFirst()
                        .orElseThrow(() -> skipped("setpriv is not installed: PATH=" + searchPath));
        return new OtherUser(NOBODY, setpriv);
    }

    private static RuntimeException skipped(String reason) {
        System.err.println("SKIPPED, NOT SHOWN HERE: " + reason);
        Assumptions.abort(reason);
        throw new AssertionError("abort() returned");
    }

    private static int ownUid() {
        try {
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The number of this user and of its group.
     *
     * @return the uid
     */
    public int uid() {
        return uid;
    }

    /**
     * Gives a file or folder to this user. Whether the user gets as far as there is up to the
     * folders above: JUnit's temporary folders are open to their owner alone.
     *
     * @param path an existing file or folder
     */
    public void own(Path path) {
        try {
            Files.setAttribute(path, "unix:uid", uid);
            Files.setAttribute(path, "unix:gid", uid);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The prefix of a command line that runs it as this user, under the same pid. */
    List<String> prefix() {
        return List.of(
                setpriv.toString(),
                "--reuid=" + uid,
                "--regid=" + uid,
                "--clear-groups",
                "--no-new-privs");
    }
}
