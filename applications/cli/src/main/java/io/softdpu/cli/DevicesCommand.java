package io.softdpu.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.cli.card.CardDevices;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.options.SideConverter;
import io.softdpu.core.Side;
import io.softdpu.core.device.PciFunction;
import io.softdpu.perf.text.TextTable;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softdpu devices}: lists the devices of each side of the card. */
@Command(
        name = "devices",
        description = {
            "Lists the devices of each side of the card.",
            "Prints names, addresses, and the representor of each on the DPU. For the operations"
                + " and limits of a device use caps. As JSON an array with one object per device.",
            "Joins the fabric folder, to show functions that programs have plugged in, too."
        },
        footerHeading = Examples.HEADING,
        footer = {"  softdpu devices", "  softdpu devices --side dpu --json"})
final class DevicesCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = "--side",
            paramLabel = "host|dpu|target",
            converter = SideConverter.class,
            completionCandidates = SideConverter.class,
            description = "The side to list (default: all).")
    private @Nullable Side side;

    /** An array with one object per device. */
    @Mixin private final JsonOption json = new JsonOption();

    @Mixin private final TopologyOption card = new TopologyOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        PrintWriter out = command.getOut();
        json.check(command);
        Side[] sides = side == null ? Side.values() : new Side[] {side};
        List<PciFunction> functions = CardDevices.list(card.load(), null, sides);
        json.write(toJson(functions), out);
        if (!json.isStandardOutput()) {
            table(functions).lines().forEach(out::println);
        }
        return ExitCode.OK.code();
    }

    private static TextTable table(List<PciFunction> functions) {
        TextTable table =
                TextTable.ofWords(
                        "SIDE", "PCI", "IBDEV", "INTERFACE", "TYPE", "IPV4", "MAC", "REPRESENTOR");
        for (PciFunction f : functions) {
            table.add(
                    f.side().id(),
                    f.pciAddress().longForm(),
                    f.ibdevName(),
                    f.interfaceName(),
                    f.type().name(),
                    f.ipv4().getHostAddress(),
                    f.macAddress(),
                    Objects.requireNonNullElse(f.representor(), "-"));
        }
        return table;
    }

    private static ArrayNode toJson(List<PciFunction> functions) {
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        for (PciFunction f : functions) {
            ObjectNode one = all.addObject();
            one.put("side", f.side().id());
            one.put("pci_address", f.pciAddress().longForm());
            one.put("ibdev_name", f.ibdevName());
            one.put("interface_name", f.interfaceName());
            one.put("function_type", f.type().name());
            one.put("ipv4", f.ipv4().getHostAddress());
            one.put("ipv6", f.ipv6().getHostAddress());
            one.put("mac", f.macAddress());
            one.put("vuid", f.vuid());
            one.put("active_rate_bits_per_second", f.activeRateBitsPerSecond());
            one.put("representor", f.representor());
        }
        return all;
    }
}
