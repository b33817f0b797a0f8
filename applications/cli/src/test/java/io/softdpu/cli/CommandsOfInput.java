package io.softdpu.cli;

import io.softdpu.testkit.JavaCommand;
import java.io.IOException;

/**
 * JVM that runs the command lines of its standard input, one after the other, and prints {@link
 * #EXIT} with the exit code of each: for tests of many commands, of which most of the time would go
 * into starting processes.
 */
final class CommandsOfInput {
    /** Begin of the line with an exit code and the words of the command line. */
    static final String EXIT = "exit: ";

    private CommandsOfInput() {}

    /** Runs them until the input ends. */
    public static void main(String[] arguments) throws IOException {
        for (String words = nextLine(); !words.isEmpty(); words = nextLine()) {
            String[] commandLine = words.split(" ");
            int exit = SoftDpu.execute(SoftDpu.commandLine(commandLine), commandLine);
            System.out.println(EXIT + exit + " " + words);
        }
    }

    /** Without what follows the line, which may be for the command. */
    private static String nextLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = System.in.read(); next >= 0 && next != '\n'; next = System.in.read()) {
            line.append((char) next);
        }
        return line.toString();
    }

    static JavaCommand command() {
        return JavaCommand.ofClass(CommandsOfInput.class);
    }
}
