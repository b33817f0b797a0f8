package io.softdpu.rdma.contract;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Test environment, arguments, input and output of a program of the far side. The program's thread
 * reads; any thread prints.
 */
final class Console {

    private final int number;
    private final List<String> words;
    private final BlockingQueue<Optional<String>> told = new LinkedBlockingQueue<>();

    /**
     * @param number of the program in its process
     * @param words class of the test environment, folder, arguments
     */
    Console(int number, List<String> words) {
        this.number = number;
        this.words = words;
    }

    /** A new test environment. */
    RdmaTestEnvironment site() throws ReflectiveOperationException {
        return Class.forName(words.get(0))
                .asSubclass(RdmaTestEnvironment.class)
                .getDeclaredConstructor()
                .newInstance();
    }

    /** The folder of the test. */
    Path folder() {
        return Path.of(words.get(1));
    }

    List<String> arguments() {
        return words.subList(2, words.size());
    }

    /** Gives the program a line; empty is the end. */
    void tell(Optional<String> line) {
        told.add(line);
    }

    /** Waits for the next line; null at the end, after which it is not called again. */
    @Nullable String read() throws InterruptedException {
        return told.take().orElse(null);
    }

    /** Whether the end is the next that {@link #read} returns. */
    boolean hasEnded() {
        Optional<String> next = told.peek();
        return next != null && next.isEmpty();
    }

    void print(String line) {
        print(System.out, number + " " + line);
    }

    void print(String name, byte[] bytes) {
        print(name + HexFormat.of().formatHex(bytes));
    }

    /** Whole lines, also of several programs at a time. */
    private static void print(PrintStream output, String line) {
        synchronized (output) {
            output.println(line);
            output.flush();
        }
    }
}
