package io.softdpu.testkit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Command line of a JVM: the one that runs the test, with native access allowed and a small heap.
 * {@link Processes#start(JavaCommand)} starts it. The methods that change something answer with a
 * new command and leave this one as it is; any thread.
 */
public final class JavaCommand {

    private final List<String> prefix;
    private final List<String> jvmOptions;
    private final ClassPath path;
    private final List<String> main;
    private final List<String> arguments;
    private final Map<String, String> environment;
    private final @Nullable Path directory;

    private JavaCommand(
            List<String> prefix,
            List<String> jvmOptions,
            ClassPath path,
            List<String> main,
            List<String> arguments,
            Map<String, String> environment,
            @Nullable Path directory) {
        this.prefix = prefix;
        this.jvmOptions = jvmOptions;
        this.path = path;
        this.main = main;
        this.arguments = arguments;
        this.environment = environment;
        this.directory = directory;
    }

    /**
     * Runs a class from the class path of the test.
     *
     * @param mainClass has a main method; may be a class of the tests
     * @return the command
     */
    public static JavaCommand ofClass(Class<?> mainClass) {
        return ofClass(mainClass.getName(), ClassPath.current());
    }

    /**
     * Runs a class from a class path.
     *
     * @param mainClass the name of a class with a main method
     * @param classPath where it and all it needs is found
     * @return the command
     */
    public static JavaCommand ofClass(String mainClass, ClassPath classPath) {
        List<String> options = List.of("--enable-native-access=ALL-UNNAMED", "-cp");
        return new JavaCommand(
                List.of(), options, classPath, List.of(mainClass), List.of(), Map.of(), null);
    }

    /**
     * Runs a class of a module from a module path.
     *
     * @param module the name of the module
     * @param mainClass the name of a class in it with a main method
     * @param modulePath jars or class folders of modules
     * @param nativeModules the modules that may call native code, separated by commas
     * @return the command
     */
    public static JavaCommand ofModule(
            String module, String mainClass, ClassPath modulePath, String nativeModules) {
        List<String> options = List.of("--enable-native-access=" + nativeModules, "-p");
        List<String> main = List.of("-m", module + "/" + mainClass);
        return new JavaCommand(List.of(), options, modulePath, main, List.of(), Map.of(), null);
    }

    /**
     * Adds options of the JVM, such as {@code -Dname=value}.
     *
     * @param options one string each
     * @return a new command
     */
    public JavaCommand withJvmOptions(String... options) {
        List<String> all = joined(List.of(options), jvmOptions);
        return new JavaCommand(prefix, all, path, main, arguments, environment, directory);
    }

    /**
     * Adds arguments of the program.
     *
     * @param more one string each
     * @return a new command
     */
    public JavaCommand withArguments(String... more) {
        List<String> all = joined(arguments, List.of(more));
        return new JavaCommand(prefix, jvmOptions, path, main, all, environment, directory);
    }

    /**
     * Sets a variable of the environment, which is otherwise that of the test.
     *
     * @param name the variable
     * @param value its value
     * @return a new command
     */
    public JavaCommand withEnvironment(String name, String value) {
        Map<String, String> all = new HashMap<>(environment);
        all.put(name, value);
        return new JavaCommand(prefix, jvmOptions, path, main, arguments, all, directory);
    }

    /**
     * Sets the working directory, which is otherwise that of the test.
     *
     * @param folder an existing folder
     * @return a new command
     */
    public JavaCommand withDirectory(Path folder) {
        return new JavaCommand(prefix, jvmOptions, path, main, arguments, environment, folder);
    }

    /**
     * Lets the process end by SIGINT as it does at a terminal. It inherits what its parent does
     * with that signal, and a shell's background jobs ignore it.
     *
     * @return a new command
     */
    public JavaCommand interruptible() {
        List<String> all = joined(prefix, List.of("env", "--default-signal=INT"));
        return new JavaCommand(all, jvmOptions, path, main, arguments, environment, directory);
    }

    /**
     * Puts words before the command line, such as a program that lowers a limit and then becomes
     * the JVM.
     *
     * @param words one string each; they come before what was put there already
     * @return a new command
     */
    public JavaCommand behind(String... words) {
        List<String> all = joined(List.of(words), prefix);
        return new JavaCommand(all, jvmOptions, path, main, arguments, environment, directory);
    }

    /**
     * Runs it under another uid, from a copy of the jars that this user may read. Its working
     * directory is / unless set afterwards, since that of the test may be closed to the user.
     *
     * @param user who
     * @return a new command
     */
    public JavaCommand as(OtherUser user) {
        return new JavaCommand(
                joined(prefix, user.prefix()),
                // Other users cannot write to that of the test.
                joined(List.of(temporaryFolder(TestFolders.shared())), jvmOptions),
                path.readableByAll(),
                main,
                arguments,
                environment,
                Path.of("/"));
    }

    private static String temporaryFolder(Path folder) {
        return "-Djava.io.tmpdir=" + folder;
    }

    private static List<String> joined(List<String> first, List<String> second) {
        List<String> all = new ArrayList<>(first);
        all.addAll(second);
        return List.copyOf(all);
    }

    /** Most live for a second: what the optimizing compiler would gain, it takes to compile. */
    private static int compilers() {
        return Soak.isLong() ? 4 : 1;
    }

    /** The command line and its surroundings, not started. */
    ProcessBuilder toProcessBuilder() {
        List<String> line = new ArrayList<>(prefix);
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Several of them share the machine with the JVM of the test.
        line.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC"));
        line.add("-XX:TieredStopAtLevel=" + compilers());
        line.add(temporaryFolder(TestFolders.temporary()));
        line.add("-D" + Patience.PROPERTY + "=" + Patience.SECONDS);
        line.add("-D" + Soak.LEVEL_PROPERTY + "=" + Soak.level());
        line.addAll(jvmOptions);
        line.add(path.toString());
        line.addAll(main);
        line.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().putAll(environment);
        // Each would make every JVM print a line of its own at the start.
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        builder.environment().remove("JDK_JAVA_OPTIONS");
        if (directory != null) {
            builder.directory(directory.toFile());
        }
        return builder;
    }
}
