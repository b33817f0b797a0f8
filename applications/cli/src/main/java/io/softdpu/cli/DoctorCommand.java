package io.softdpu.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.cli.doctor.Doctor;
import io.softdpu.cli.doctor.Finding;
import io.softdpu.linux.text.ForeignText;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softdpu doctor}: examines machine and environment, and names remedies. */
@Command(
        name = "doctor",
        description = {
            "Examines this machine and environment, and names remedies.",
            "Each line is ok, a warning (softdpu runs, with a disadvantage) or an error (it cannot"
                    + " run). Exits with 1 if there is an error."
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu doctor",
            "  softdpu doctor --remove-leftovers",
            "  softdpu doctor --json -"
        })
final class DoctorCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = "--remove-leftovers",
            description = "Remove files that dead processes have left in the fabric folder.")
    private boolean removeLeftovers;

    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        json.check(command);
        List<Finding> findings = Doctor.examine(removeLeftovers);
        PrintWriter out = command.getOut();
        if (!json.isStandardOutput()) {
            print(findings, out);
        }
        json.write(toJson(findings), out);
        out.flush();
        return (hasError(findings) ? ExitCode.FAILED : ExitCode.OK).code();
    }

    static void print(List<Finding> findings, PrintWriter out) {
        for (Finding finding : findings) {
            out.printf(
                    Locale.ROOT,
                    "%-7s  %-20s  %s%n",
                    finding.grade().word(),
                    finding.check(),
                    ForeignText.escape(finding.detail()));
            if (finding.remedy() != null) {
                out.printf(Locale.ROOT, "         %-20s  -> %s%n", "", finding.remedy());
            }
        }
        long errors = count(findings, Finding.Grade.ERROR);
        long warnings = count(findings, Finding.Grade.WARNING);
        out.println(
                (errors == 0 ? "softdpu can run here" : "softdpu cannot run here")
                        + ": errors="
                        + errors
                        + ", warnings="
                        + warnings);
    }

    static boolean hasError(List<Finding> findings) {
        return count(findings, Finding.Grade.ERROR) > 0;
    }

    private static long count(List<Finding> findings, Finding.Grade grade) {
        return findings.stream().filter(finding -> finding.grade() == grade).count();
    }

    static ObjectNode toJson(List<Finding> findings) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("can_run", !hasError(findings));
        ArrayNode checks = root.putArray("checks");
        for (Finding finding : findings) {
            checks.addObject()
                    .put("check", finding.check())
                    .put("grade", finding.grade().word())
                    .put("detail", finding.detail())
                    .put("remedy", finding.remedy());
        }
        return root;
    }
}
