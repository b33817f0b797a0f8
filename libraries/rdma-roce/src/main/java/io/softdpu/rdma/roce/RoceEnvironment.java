package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Text;
import io.softdpu.linux.text.TimeText;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Reads options of the provider from environment variables. */
final class RoceEnvironment {
    private static final String ACK_TIMEOUT = "SOFTDPU_ROCE_ACK_TIMEOUT";
    private static final String RETRIES = "SOFTDPU_ROCE_RETRIES";
    private static final String RECEIVE_BUFFER = "SOFTDPU_ROCE_RECEIVE_BUFFER";
    private static final String SEND_BUFFER = "SOFTDPU_ROCE_SEND_BUFFER";
    private static final String IMPAIR = "SOFTDPU_ROCE_IMPAIR";
    private static final String PCAP = "SOFTDPU_ROCE_PCAP";

    private RoceEnvironment() {}

    /**
     * The defaults, and what an environment says.
     *
     * @throws DpuException INVALID_VALUE for an illegal value, naming the variable
     */
    static RoceOptions read(Map<String, String> environment) {
        RoceOptions made = RoceOptions.defaults();
        String timeout = environment.getOrDefault(ACK_TIMEOUT, "");
        if (!timeout.isEmpty()) {
            Optional<Duration> time = TimeText.parse(timeout);
            made = made.withAckTimeout(source(ACK_TIMEOUT), time.orElse(null), timeout);
        }
        String retries = environment.getOrDefault(RETRIES, "");
        if (!retries.isEmpty()) {
            made = made.withRetries(source(RETRIES), number(retries), retries);
        }
        String received = environment.getOrDefault(RECEIVE_BUFFER, "");
        if (!received.isEmpty()) {
            made = made.withReceiveBuffer(source(RECEIVE_BUFFER), number(received), received);
        }
        String sent = environment.getOrDefault(SEND_BUFFER, "");
        if (!sent.isEmpty()) {
            made = made.withSendBuffer(source(SEND_BUFFER), number(sent), sent);
        }
        String impairment = environment.getOrDefault(IMPAIR, "");
        if (!impairment.isEmpty()) {
            made = made.withImpairment(source(IMPAIR), impairment);
        }
        String file = environment.getOrDefault(PCAP, "");
        if (!file.isEmpty()) {
            String pid = Long.toString(ProcessHandle.current().pid());
            made =
                    made.withCapture(
                            GivenText.path(
                                    source(PCAP),
                                    file.replace("%p", pid),
                                    refusal -> new DpuException(Status.INVALID_VALUE, refusal)));
        }
        return made;
    }

    private static String source(String variable) {
        return "variable=" + variable;
    }

    /** The number of a text; -1, which is illegal everywhere, if it is none. */
    private static int number(String text) {
        try {
            return Text.parseInt(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
