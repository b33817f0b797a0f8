package io.softdpu.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.perf.pair.TwoProcesses;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.TextStyle;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.BiFunction;
import picocli.CommandLine;

/**
 * Forms of the result of a measurement.
 *
 * @param <R> the result
 * @param table its lines for people
 * @param document its document for programs
 */
record PerfRun<R>(
        BiFunction<R, TextStyle, List<String>> table,
        BiFunction<R, ResultHeader, JsonNode> document) {

    /** Measures, and prints the result as {@code --json} says; a signal ends it. */
    int measure(TwoProcesses<R> session, JsonOption json, CommandLine command) {
        ResultHeader header = ResultHeader.now(Version.number());
        try (SignalGuard _ = SignalGuard.on(session::interrupt)) {
            try {
                print(session.run(), header, json, command.getOut());
                return ExitCode.OK.code();
            } catch (RuntimeException e) {
                // Here and not by picocli: after a signal the exit code does not come from picocli.
                return Errors.report(e, command.getErr()).code();
            }
        }
    }

    private void print(R result, ResultHeader header, JsonOption json, PrintWriter out) {
        JsonNode made = document.apply(result, header);
        if (!json.isStandardOutput()) {
            table.apply(result, Terminal.outputStyle()).forEach(out::println);
        }
        json.write(made, out);
    }
}
