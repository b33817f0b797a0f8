package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import org.junit.jupiter.api.Test;

/** Datagrams that find no peer or no route, in a network namespace of their own. */
@StartsProcesses
final class UdpSocketNetworkTest {
    private static final String[] NAMESPACE = {"unshare", "-rn", "sh", "-c"};

    private static final String INTERFACE =
            "ip link set lo up"
                    + " && ip link add one type veth peer name two"
                    + " && ip addr add 10.9.0.1/24 dev one"
                    + " && ip -6 addr add fd00::1/64 dev one nodad"
                    + " && ip link set one up && ip link set two up"
                    + " && ip route replace 10.9.0.0/24 dev one src 10.9.0.1 mtu 1300";

    @Test
    void shouldTellWhatWasNotSentAndWhy(Processes processes) {
        ChildProcess trial =
                processes.start(
                        new ProcessBuilder(
                                NAMESPACE[0], NAMESPACE[1], NAMESPACE[2], NAMESPACE[3], INTERFACE));
        assumeThat(trial.awaitExit())
                .as("a network namespace with an interface is permitted: %s", trial.errorLines())
                .isZero();

        ChildProcess probe =
                processes.start(
                        JavaCommand.ofClass(UdpSocketNetworkProbe.class)
                                .behind(
                                        NAMESPACE[0],
                                        NAMESPACE[1],
                                        NAMESPACE[2],
                                        NAMESPACE[3],
                                        INTERFACE + " && exec \"$@\"",
                                        "sh"));

        assertThat(probe.awaitExit()).as("%s", probe.errorLines()).isZero();
        assertThat(probe.outputLines())
                .containsExactly(
                        "sent=0 sendmmsg failed: errno=101 (ENETUNREACH),"
                                + " address=/192.0.2.1:4791, lengthBytes=1",
                        "sent=0 sendmmsg failed: errno=90 (EMSGSIZE),"
                                + " address=/10.9.0.2:4791, lengthBytes=1473",
                        "EMSGSIZE local=true mtu=1500 quoted=0",
                        "of 1472 bytes sent=1",
                        "partly sent=true waiting=true errno=EAGAIN",
                        "to another sent=1",
                        "received=1 bytes=3",
                        "sent=0 sendmmsg failed: errno=101 (ENETUNREACH),"
                                + " address=/[2001:db8:0:0:0:0:0:1]:4791, lengthBytes=1",
                        "sent=0 sendmmsg failed: errno=90 (EMSGSIZE),"
                                + " address=/[fd00:0:0:0:0:0:0:2]:4791, lengthBytes=1453",
                        "EMSGSIZE local=true mtu=1500 quoted=0");
    }
}
