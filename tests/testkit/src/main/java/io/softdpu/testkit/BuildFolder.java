package io.softdpu.testkit;

import java.nio.file.Path;

/** Folder into which the build that runs the tests writes its results. Any thread. */
public final class BuildFolder {
    /** The system property by which the build names its folder. */
    static final String PROPERTY = "softdpu.build.folder";

    private BuildFolder() {}

    /**
     * A file or folder of the build.
     *
     * @param name relative to the build's folder
     * @return its path; in {@code target} of the working directory, which is the module, if no
     *     build has named its folder
     */
    public static Path resolve(String name) {
        return Path.of(System.getProperty(PROPERTY, "target")).resolve(name);
    }
}
