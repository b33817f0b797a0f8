package io.softdpu.rdma.contract;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Process for the programs of the far side, each on a thread of its own. A line of standard input
 * is the number of a program and one of: {@link #START} with the name of a {@link Program}, class
 * of the test environment, folder and arguments; {@link #TELL} with a line for the program; {@link
 * #END}, which is the end of the program's input. A line of standard output is the number of a
 * program and a line of it; the last one is {@link #ENDED} or {@link #FAILED}.
 */
public final class ProgramProcess {

    static final String START = "start";
    static final String TELL = "tell";
    static final String END = "end";
    static final String ENDED = "program has ended";
    static final String FAILED = "program has failed: ";

    /** The programs of the far side. */
    enum Program {
        PEER(PeerProgram::run),
        LISTEN(ListenProgram::run),
        EVENT(EventProgram::run);

        @SuppressWarnings("ImmutableEnumChecker") // references to static methods
        private final Body body;

        Program(Body body) {
            this.body = body;
        }

        @FunctionalInterface
        private interface Body {
            void run(Console console) throws Exception;
        }

        private void run(Console console) {
            try {
                body.run(console);
                console.print(ENDED);
            } catch (Throwable e) {
                e.printStackTrace();
                console.print(FAILED + e);
            }
        }
    }

    private ProgramProcess() {}

    /** Runs until standard input and all programs end. */
    public static void main(String[] arguments) throws IOException {
        Map<Integer, Console> consoles = new HashMap<>();
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        String line;
        while ((line = input.readLine()) != null) {
            List<String> words = List.of(line.split(" ", 3));
            int number = Integer.parseInt(words.get(0));
            switch (words.get(1)) {
                case START -> consoles.put(number, start(number, words.get(2)));
                case TELL -> running(consoles.get(number)).tell(Optional.of(words.get(2)));
                case END -> running(consoles.remove(number)).tell(Optional.empty());
                default -> throw new IllegalArgumentException("no command: line=" + line);
            }
        }
        consoles.values().forEach(console -> console.tell(Optional.empty()));
    }

    private static Console running(@Nullable Console console) {
        return Objects.requireNonNull(console, "no program of that number");
    }

    private static Console start(int number, String line) {
        List<String> words = List.of(line.split(" "));
        Console console = new Console(number, words.subList(1, words.size()));
        Program program = Program.valueOf(words.get(0));
        Thread.ofPlatform().name("program-" + number).start(() -> program.run(console));
        return console;
    }
}
