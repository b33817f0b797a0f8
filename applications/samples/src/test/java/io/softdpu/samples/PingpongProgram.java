package io.softdpu.samples;

import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.Patience;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The sample rdma-pingpong with addresses of a test's own for the devices t0 and p0. Arguments:
 * both addresses, then {@code option=value} each.
 */
public final class PingpongProgram {
    /** Of the server and of the client. */
    static final List<String> DEVICES = List.of("t0", "p0");

    private PingpongProgram() {}

    /** Runs the sample on the calling thread. */
    static void run(PrintStream out, List<String> addresses, String... options) {
        RdmaPingpong sample = new RdmaPingpong();
        Map<SampleOption, String> values = new HashMap<>();
        values.put(SampleOption.TIMEOUT, Long.toString(Patience.SECONDS));
        for (String each : options) {
            int end = each.indexOf('=');
            String name = each.substring(0, end);
            SampleOption option =
                    sample.options().stream()
                            .filter(known -> known.longName().equals(name))
                            .findFirst()
                            .orElseThrow();
            values.put(option, each.substring(end + 1));
        }
        sample.run(new SampleSettings(withAddresses(addresses), values), out);
    }

    /** One topology: the programs of a fabric folder need the same. */
    private static Topology withAddresses(List<String> addresses) {
        Topology builtin = Topology.builtin();
        Topology.Builder made = Topology.builder(builtin.name());
        for (PciFunction function : builtin.functions()) {
            int place = DEVICES.indexOf(function.interfaceName());
            made.add(
                    place < 0 ? function : function.toBuilder().ipv4(addresses.get(place)).build());
        }
        return made.build();
    }

    /** Runs it as a process. */
    public static void main(String[] arguments) {
        List<String> all = List.of(arguments);
        run(
                System.out,
                all.subList(0, DEVICES.size()),
                all.subList(DEVICES.size(), all.size()).toArray(String[]::new));
    }
}
