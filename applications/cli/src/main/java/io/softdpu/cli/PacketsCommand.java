package io.softdpu.cli;

import io.softdpu.cli.packets.CaptureFile;
import io.softdpu.cli.packets.CaptureReport;
import io.softdpu.cli.packets.PacketLine;
import io.softdpu.rdma.roce.capture.Analysis;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softdpu packets}: explains and checks the RoCE v2 packets of a capture. */
@Command(
        name = "packets",
        description = {
            "Explains and checks the RoCE v2 packets of a capture.",
            "Reads a pcap file of Ethernet, raw IP or all interfaces (tcpdump -i any). Prints a"
                + " line per packet, which begins with the number of its record in the file and the"
                + " seconds since the first, a line per connection, and a summary. Notes are:"
                + " icrc=bad (the invariant CRC is wrong, so receivers drop the packet), malformed,"
                + " retransmission (a request was there before), duplicate (an answer was there"
                + " before), gap (packets before it are missing). Exits with 1 if a packet is"
                + " malformed or has a wrong ICRC, or the capture is cut."
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu packets roce.pcap",
            "  softdpu packets --errors --json roce.json roce.pcap"
        })
final class PacketsCommand implements Callable<Integer> {
    private static final Path STANDARD_INPUT = Path.of("-");

    @Spec private @Nullable CommandSpec spec;

    @Parameters(
            paramLabel = "FILE",
            description = "The capture, in the format pcap; - for standard input.")
    private Path file = STANDARD_INPUT;

    @Option(names = "--errors", description = "Print the packets with a note alone.")
    private boolean errors;

    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        json.check(command);
        PrintWriter out = command.getOut();
        CaptureReport report = new CaptureReport();
        try (InputStream input = open()) {
            Analysis capture = new Analysis(input);
            try {
                while (capture.next()) {
                    print(capture, report, out);
                }
            } finally { // a capture that is cut has these lines, too
                if (!json.isStandardOutput()) {
                    CaptureReport.lines(capture).forEach(out::println);
                }
                out.flush();
            }
            json.write(report.toJson(capture), out);
            boolean right = capture.badIcrc() + capture.malformed() == 0;
            return (right ? ExitCode.OK : ExitCode.FAILED).code();
        } catch (IOException e) {
            throw CaptureFile.failure(file.toString(), e);
        }
    }

    private InputStream open() {
        return file.equals(STANDARD_INPUT)
                ? new BufferedInputStream(System.in)
                : CaptureFile.open(file);
    }

    private void print(Analysis packet, CaptureReport report, PrintWriter out) {
        boolean noted = PacketLine.isNoted(packet);
        boolean printed = !json.isStandardOutput() && (noted || !errors);
        if (!noted && !printed) {
            return;
        }
        String line = PacketLine.of(packet);
        if (noted) {
            report.addNoted(packet, line);
        }
        if (printed) {
            out.println(line);
        }
    }
}
