package io.softdpu.junit;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Main class of a process that runs a {@link ChildProgram}. */
final class ChildMain {
    private ChildMain() {}

    /**
     * Runs the program of a file that {@link Children} has written.
     *
     * @param arguments the file, and its folder
     */
    public static void main(String[] arguments) throws Throwable {
        Children.Job job = read(Path.of(arguments[0]));
        SoftDpu card = new SoftDpu(job.settings(), Path.of(arguments[1]), job.testClass());
        Throwable failure = null;
        try {
            job.program().run(card);
        } catch (Throwable e) { // thrown again when the card has ended
            failure = e;
        }
        Findings findings = card.end(failure != null);
        if (!findings.isEmpty()) {
            AssertionError found = findings.toFailure();
            if (failure == null) {
                failure = found;
            } else {
                failure.addSuppressed(found);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static Children.Job read(Path file) throws IOException, ClassNotFoundException {
        try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(file))) {
            return (Children.Job) in.readObject();
        }
    }
}
