package io.softdpu.fabric.folder;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Identity;
import io.softdpu.linux.text.GivenText;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Path of a fabric folder, from a program or from the environment: {@code SOFTDPU_FABRIC}, else
 * {@code $XDG_RUNTIME_DIR/softdpu}, else {@code /tmp/softdpu-UID}.
 *
 * @param isChosen whether the user or the program named it
 */
public record FabricPath(Path path, boolean isChosen) {
    private static final String VARIABLE = "SOFTDPU_FABRIC";

    /**
     * The path that a program has configured, or that of the environment.
     *
     * @throws FabricException MALFORMED if {@code SOFTDPU_FABRIC} is needed and not absolute, or
     *     the JVM cannot represent the path in its locale
     */
    public static FabricPath of(@Nullable Path configured) {
        return configured != null
                ? new FabricPath(path("argument=folder", configured.toString()), true)
                : ofEnvironment(System.getenv(VARIABLE), System.getenv("XDG_RUNTIME_DIR"));
    }

    /**
     * A relative path is refused, since programs that were started in other folders would not find
     * it. A relative XDG_RUNTIME_DIR is ignored, as its specification requires.
     */
    static FabricPath ofEnvironment(@Nullable String named, @Nullable String runtime) {
        if (named != null && !named.isEmpty()) {
            Path path = path("variable=" + VARIABLE, named);
            if (!path.isAbsolute()) {
                throw new FabricException(
                        FabricException.Kind.MALFORMED,
                        "path of the fabric folder is relative: variable="
                                + VARIABLE
                                + ", value="
                                + named
                                + ", expected=an absolute path");
            }
            return new FabricPath(path, true);
        }
        if (runtime != null && runtime.startsWith("/")) {
            Path folder = path("variable=XDG_RUNTIME_DIR", runtime);
            if (Files.isDirectory(folder)) {
                return new FabricPath(folder.resolve("softdpu"), false);
            }
        }
        return new FabricPath(Path.of("/tmp/softdpu-" + Identity.effectiveUid()), false);
    }

    private static Path path(String source, String value) {
        return GivenText.path(
                source,
                value,
                refusal -> new FabricException(FabricException.Kind.MALFORMED, refusal));
    }
}
