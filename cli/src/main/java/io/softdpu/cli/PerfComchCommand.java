package io.softdpu.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.cli.demo.JvmCommand;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.cli.perf.Percentiles;
import io.softdpu.cli.perf.PerfPlan;
import io.softdpu.cli.perf.PerfResult;
import io.softdpu.cli.perf.PerfSession;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code softdpu perf comch}. */
@Command(
        name = "comch",
        description = {
            "Measures the Comm Channel's fast path between two processes, host and DPU: producer"
                    + " to consumer.",
            "Latencies are those of a round trip. One way they are those of each 64th message,"
                    + " from submitting it until the DPU has received it; messages of less than 8"
                    + " bytes have none."
        })
final class PerfComchCommand implements Callable<Integer> {
    /** In the table, where there is no such figure. */
    private static final String NONE = "-";

    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable PerfCommand parent;
    @Mixin private final PerfPlanOptions options = new PerfPlanOptions();
    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        PerfPlan plan = options.plan(command);
        json.check(command);
        List<String> own = Objects.requireNonNull(parent).arguments();
        List<String> dpu = new ArrayList<>(List.of("perf", "comch-dpu"));
        dpu.addAll(PerfPlanOptions.arguments(plan));
        PerfSession session = new PerfSession(plan, JvmCommand.ofThisProcess(own), dpu);
        try (SignalGuard _ = SignalGuard.on(session::interrupt)) {
            try {
                print(session.run(), command.getOut());
                return ExitCode.OK.code();
            } catch (RuntimeException | IOException e) {
                // Here and not by picocli: after a signal the process ends with what has been said.
                return Errors.report(e, command.getErr()).code();
            }
        }
    }

    private void print(PerfResult result, PrintWriter out) throws IOException {
        if (!json.isStandardOutput()) {
            table(result).lines().forEach(out::println);
        }
        json.write(toJson(result), out);
    }

    private static TextTable table(PerfResult result) {
        PerfPlan plan = result.plan();
        Percentiles latencies = result.latencies();
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        TextTable table =
                TextTable.ofNumbers(
                        "measurement",
                        "size",
                        "wait",
                        "messages/s",
                        "GB/s",
                        "p50 ns",
                        "p99 ns",
                        "p99.9 ns",
                        "B/op",
                        "cores used");
        table.add(
                PerfModeConverter.word(plan.mode()),
                SizeConverter.format(plan.sizeBytes()),
                PerfWaitConverter.word(plan.waiting()),
                number("%.0f", result.messagesPerSecond()),
                number("%.3f", result.gigabytesPerSecond()),
                latencies == null ? NONE : Long.toString(latencies.p50Nanos()),
                latencies == null ? NONE : Long.toString(latencies.p99Nanos()),
                latencies == null ? NONE : Long.toString(latencies.p999Nanos()),
                allocated.isEmpty() ? NONE : number("%.4f", allocated.getAsDouble()),
                number("%.3f", result.host().processors() + result.dpu().processors()));
        return table;
    }

    private static ObjectNode toJson(PerfResult result) {
        PerfPlan plan = result.plan();
        Percentiles latencies = result.latencies();
        OptionalDouble allocated = result.allocatedBytesPerOperation();
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("measurement", PerfModeConverter.word(plan.mode()))
                .put("size_bytes", plan.sizeBytes())
                .put("wait", PerfWaitConverter.word(plan.waiting()))
                .put("messages", result.messages())
                .put("messages_per_s", result.messagesPerSecond())
                .put("gb_per_s", result.gigabytesPerSecond())
                .put("p50_ns", latencies == null ? null : (Long) latencies.p50Nanos())
                .put("p99_ns", latencies == null ? null : (Long) latencies.p99Nanos())
                .put("p999_ns", latencies == null ? null : (Long) latencies.p999Nanos())
                .put(
                        "allocated_bytes_per_op",
                        allocated.isEmpty() ? null : (Double) allocated.getAsDouble());
        root.putObject("cores_used")
                .put("host", result.host().processors())
                .put("dpu", result.dpu().processors());
        return root;
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
