package io.softdpu.junit;

import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.File;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Further processes of a test: starts them, and ends all of them. Any thread. */
final class Children {
    private final CardSettings settings;
    private final Path folder;
    private final List<ChildJvm> started = new ArrayList<>();
    private final Thread atExit = new Thread(this::killAll, "softdpu-junit-kill");
    private int programs;

    /**
     * Creates an empty set.
     *
     * @param folder the root of the folder that the processes share, which ends them with this JVM;
     *     programs are passed to them there
     */
    Children(CardSettings settings, Path folder) {
        this.settings = settings;
        this.folder = folder;
    }

    /** A program and the card that it gets. */
    record Job(CardSettings settings, ChildProgram program, String testClass)
            implements Serializable {}

    synchronized ChildJvm start(ChildProgram program, String testClass) {
        Path file = folder.resolve("program-" + programs++);
        try (ObjectOutputStream out =
                new ObjectOutputStream(
                        Files.newOutputStream(file, StandardOpenOption.CREATE_NEW))) {
            out.writeObject(new Job(settings, program, testClass));
        } catch (NotSerializableException e) {
            throw new IllegalArgumentException(
                    Text.format(
                            "program captures an object that cannot be sent to another process:"
                                + " type=%s, expected=a static method, or a lambda that captures"
                                + " serializable values only",
                            Reason.of(e)),
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException("program not written: file=" + file, e);
        }
        return run(
                SharedFolder.fabricOf(folder),
                ChildMain.class.getName(),
                program.getClass(),
                List.of(file.toString(), folder.toString()));
    }

    synchronized ChildJvm startMain(Path fabricFolder, Class<?> mainClass, String... arguments) {
        return run(fabricFolder, mainClass.getName(), mainClass, List.of(arguments));
    }

    private ChildJvm run(
            Path fabricFolder, String mainClass, Class<?> needed, List<String> arguments) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.add("--enable-native-access=ALL-UNNAMED");
        line.add("-XX:+UseSerialGC"); // several JVMs share the machine
        line.addAll(settings.childOptions());
        line.add("-cp");
        line.add(classPath(needed));
        line.add(WatchedMain.class.getName());
        line.add(folder.toString());
        line.add(mainClass);
        line.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().put("SOFTDPU_FABRIC", fabricFolder.toString());
        builder.environment().put("SOFTDPU_TOPOLOGY", ""); // not the card of who runs the test
        if (settings.sanitized()) {
            builder.environment().put(Sanitizer.ENVIRONMENT, Long.toString(settings.seed()));
        }
        if (started.isEmpty()) {
            Runtime.getRuntime().addShutdownHook(atExit);
        }
        try {
            ChildJvm child = new ChildJvm(builder.start(), mainClass);
            started.add(child);
            return child;
        } catch (IOException e) {
            throw new UncheckedIOException("process not started: command=" + line, e);
        }
    }

    /** All that this JVM has, whether on its class path or on its module path. */
    private static String classPath(Class<?> needed) {
        Set<String> entries = new LinkedHashSet<>();
        addFolderOf(needed, entries);
        // Surefire may start the JVM with one jar whose manifest names the rest; then the list is
        // in a property of its own.
        add(System.getProperty("surefire.test.class.path"), entries);
        add(System.getProperty("java.class.path"), entries);
        add(System.getProperty("jdk.module.path"), entries);
        return String.join(File.pathSeparator, entries);
    }

    private static void add(@Nullable String path, Set<String> entries) {
        if (path != null && !path.isEmpty()) {
            for (String entry : path.split(File.pathSeparator)) {
                entries.add(Path.of(entry).toAbsolutePath().toString());
            }
        }
    }

    /** The folder of a class that is patched into a module, which no path has. */
    private static void addFolderOf(Class<?> type, Set<String> entries) {
        String name = type.getName().replaceFirst("\\$\\$Lambda.*", "");
        String file = name.replace('.', '/') + ".class";
        URL url = type.getResource("/" + file);
        if (url == null || !url.getProtocol().equals("file")) {
            return; // in a jar, which is on a path
        }
        try {
            String path = Path.of(url.toURI()).toString();
            entries.add(path.substring(0, path.length() - file.length() - 1));
        } catch (URISyntaxException e) {
            throw new IllegalStateException("address of a class is malformed: url=" + url, e);
        }
    }

    /** Kills all processes, waits for their end, and adds those that have failed. */
    synchronized void end(Findings findings) {
        for (ChildJvm child : started) {
            String failure = child.end();
            if (!failure.isEmpty()) {
                findings.add(failure);
            }
        }
        if (!started.isEmpty()) {
            Runtime.getRuntime().removeShutdownHook(atExit);
        }
    }

    /** For each process its output, for the report of a failure. */
    synchronized List<String> outputs() {
        return started.stream().map(child -> "\n" + child.description()).toList();
    }

    private synchronized void killAll() {
        started.forEach(ChildJvm::destroy);
    }
}
