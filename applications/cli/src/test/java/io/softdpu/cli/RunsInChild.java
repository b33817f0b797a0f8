package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import java.util.ArrayList;
import java.util.List;

/**
 * JVM that runs command lines one after the other, as {@link Run} does: for commands that are
 * refused in surroundings which only another process can have.
 */
final class RunsInChild {
    private static final String OUTPUT = "output: ";
    private static final String ERROR = "error: ";
    private static final String EXIT = "exit: ";

    private RunsInChild() {}

    /** Each argument is one command line, of words that are separated by single spaces. */
    public static void main(String[] commandLines) {
        for (String words : commandLines) {
            Run run = Run.ofWords(words);
            run.outputLines().forEach(line -> System.out.println(OUTPUT + line));
            run.errorLines().forEach(line -> System.out.println(ERROR + line));
            System.out.println(EXIT + run.exit());
        }
    }

    static JavaCommand command(List<String> commandLines) {
        return JavaCommand.ofClass(RunsInChild.class)
                .withArguments(commandLines.toArray(String[]::new));
    }

    /** Waits for the end of the JVM; one for each command line, in their order. */
    static List<Run> await(ChildProcess child) {
        assertThat(child.awaitExit()).as(child::toString).isZero();
        List<Run> runs = new ArrayList<>();
        List<String> output = new ArrayList<>();
        List<String> errors = new ArrayList<>();
        for (String line : child.outputLines()) {
            if (line.startsWith(OUTPUT)) {
                output.add(line.substring(OUTPUT.length()));
            } else if (line.startsWith(ERROR)) {
                errors.add(line.substring(ERROR.length()));
            } else {
                int exit = Integer.parseInt(line.substring(EXIT.length()));
                runs.add(new Run(exit, List.copyOf(output), List.copyOf(errors)));
                output.clear();
                errors.clear();
            }
        }
        return runs;
    }
}
