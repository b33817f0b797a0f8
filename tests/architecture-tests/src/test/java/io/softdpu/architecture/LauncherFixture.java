package io.softdpu.architecture;

import io.softdpu.testkit.OtherUser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * A source tree with the launcher, a Maven that only records its call and copies files, and a JDK
 * whose java prints its arguments: the subject of the tests is the script, not the build.
 */
final class LauncherFixture {

    /** What the launchers of the tree and of the archives share. */
    static final String SHARED = "applications/cli/src/main/sh/java.sh";

    private static final List<String> TOOLS =
            List.of(
                    "sh",
                    "cat",
                    "cmp",
                    "comm",
                    "cp",
                    "cut",
                    "date",
                    "dirname",
                    "find",
                    "flock",
                    "grep",
                    "head",
                    "id",
                    "mkdir",
                    "mv",
                    "readlink",
                    "rm",
                    "sha256sum",
                    "sort",
                    "stat",
                    "tr",
                    "wc",
                    "xargs");

    private static final String MAVEN =
            """
            #!/bin/sh
            echo "$PWD" >>"$LAUNCHER_TEST/builds"
            [ ! -e "$LAUNCHER_TEST/broken" ] || { echo "[ERROR] broken on purpose"; exit 1; }
            case "$*" in
                *:softdpu-dist*)
                    mkdir -p applications/dist/target/apidocs
                    cat applications/cli/src/main/source docs/overview.md \
                        >applications/dist/target/apidocs/index.html
                    exit
                    ;;
            esac
            mkdir -p applications/cli/target/run
            cp applications/cli/src/main/source applications/cli/target/cli.jar
            cp applications/cli/src/main/source applications/cli/target/run/lib.jar
            """;

    /** Its first argument "stay" makes it wait for the end of its input. */
    private static final String JAVA =
            """
            #!/bin/sh
            run=
            for argument; do
                case "$argument" in */run-*) run=$argument ;; esac
            done
            echo "java $*"
            echo "tunables ${GLIBC_TUNABLES:-none}"
            case "$*" in *" stay") cat ;; esac
            echo "source $(cat "$run/cli.jar") $(cat "$run/lib.jar")"
            """;

    final Path folder;
    final Path tree;
    private final Path tools;

    /**
     * Makes tree, tools and JDK in an empty folder, which is HOME as well.
     *
     * @param folder an existing folder
     */
    LauncherFixture(Path folder) throws IOException {
        this.folder = folder;
        tree = makeTree("a tree");
        tools = Files.createDirectories(folder.resolve("tools"));
        for (String tool : TOOLS) {
            Files.createSymbolicLink(tools.resolve(tool), find(tool));
        }
        makeExecutable(tools.resolve("mvn"), MAVEN);
        setMachine("x86_64");
        makeJdk("jdk", "25.0.1");
    }

    /** Makes another source tree with the same content: the name of its folder. */
    Path makeTree(String name) throws IOException {
        Path made = Files.createDirectories(folder.resolve(name)).toRealPath();
        Files.copy(ProjectModules.ROOT.resolve("softdpu"), made.resolve("softdpu"));
        setMode(made.resolve("softdpu"), "rwxr-xr-x");
        Files.writeString(made.resolve("pom.xml"), "<project/>");
        Files.createDirectories(made.resolve("applications/cli/src/main"));
        Files.createDirectories(made.resolve("applications/cli/src/main/sh"));
        Files.copy(ProjectModules.ROOT.resolve(SHARED), made.resolve(SHARED));
        Files.writeString(made.resolve("applications/cli/pom.xml"), "<project/>");
        Files.writeString(made.resolve("applications/cli/src/main/source"), "first");
        Files.createDirectories(made.resolve("docs"));
        Files.writeString(made.resolve("docs/overview.md"), " overview");
        return made;
    }

    Path makeJdk(String name, String version) throws IOException {
        Path jdk = Files.createDirectories(folder.resolve(name));
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        Files.createDirectories(jdk.resolve("bin"));
        makeExecutable(jdk.resolve("bin/java"), JAVA);
        makeExecutable(jdk.resolve("bin/javac"), "#!/bin/sh");
        return jdk;
    }

    /** Removes tools from PATH. */
    void removeTools(String... names) throws IOException {
        for (String name : names) {
            Files.delete(tools.resolve(name));
        }
    }

    /** Sets what uname says. */
    void setMachine(String name) throws IOException {
        makeExecutable(tools.resolve("uname"), "#!/bin/sh\necho " + name);
    }

    /** Sets what df says of every disk. */
    void setAvailableKib(long available) throws IOException {
        makeExecutable(
                tools.resolve("df"),
                "#!/bin/sh\necho 'Filesystem 1024-blocks Used Available Capacity Mounted on'\n"
                        + "echo 'a disk 100 100 "
                        + available
                        + " 99% /a place'\n");
    }

    /** Changes the source of the tree, so that the next start builds. */
    void edit(String source) throws IOException {
        Files.writeString(tree.resolve("applications/cli/src/main/source"), source);
    }

    ProcessBuilder launcher(String... arguments) {
        return launcherOf(tree, arguments);
    }

    ProcessBuilder launcherOf(Path otherTree, String... arguments) {
        List<String> line = new ArrayList<>(List.of(otherTree.resolve("softdpu").toString()));
        line.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(line).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", tools.toString());
        builder.environment().put("HOME", folder.toString());
        builder.environment().put("SOFTDPU_JAVA_HOME", folder.resolve("jdk").toString());
        builder.environment().put("LAUNCHER_TEST", folder.toString());
        return builder;
    }

    /** The folders that Maven was called in, in this order. */
    List<String> builds() throws IOException {
        Path builds = folder.resolve("builds");
        return Files.exists(builds) ? Files.readAllLines(builds) : List.of();
    }

    /** Where all trees are built, unless the environment says otherwise. */
    Path cache() {
        return folder.resolve(".cache/softdpu");
    }

    /** Where a tree is built: the tree. */
    Path buildFolder(Path ofTree) {
        return cache().resolve(hash(ofTree));
    }

    List<Path> runFolders(Path ofTree) throws IOException {
        try (Stream<Path> children = Files.list(buildFolder(ofTree))) {
            return children.filter(child -> child.getFileName().toString().startsWith("run-"))
                    .toList();
        }
    }

    /** The name of a tree's build folder: the tree. */
    static String hash(Path ofTree) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(ofTree.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    static void setMode(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    /** Gives a link itself to another user. */
    static void giveLink(Path link, OtherUser other) throws IOException {
        Files.setAttribute(link, "unix:uid", other.uid(), LinkOption.NOFOLLOW_LINKS);
    }

    private static Path find(String tool) {
        return Arrays.stream(System.getenv("PATH").split(":"))
                .map(bin -> Path.of(bin, tool))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow();
    }

    /** Replaces a link, and does not write to what it names. */
    private static void makeExecutable(Path file, String text) throws IOException {
        Files.deleteIfExists(file);
        Files.writeString(file, text);
        setMode(file, "rwxr-xr-x");
    }
}
