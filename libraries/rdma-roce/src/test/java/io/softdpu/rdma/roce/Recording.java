package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.wire.Addresses;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Packets of a live connection, read from a capture, and what they tell of it.
 *
 * @param packets that the near side has sent to the far side
 * @param nearId number that the near side's connection management gives to the connection
 * @param requestPsn of the near side's first request
 * @param answerPsn of the far side's first request, whose answers have it
 */
record Recording(
        List<byte[]> packets,
        int nearId,
        int farId,
        int nearQueuePair,
        int farQueuePair,
        int requestPsn,
        int answerPsn) {

    /**
     * Reads a capture with a connection, its REP and a request of both sides.
     *
     * @param near address of the near side
     */
    static Recording read(Path capture, Gid near, int nearQueuePair, int farQueuePair)
            throws IOException {
        String nearAddress = Addresses.text(near.addressBytes());
        List<byte[]> sent = new ArrayList<>();
        List<Integer> requests = new ArrayList<>();
        List<Integer> ofFar = new ArrayList<>();
        List<CmMessage.Rep> replies = new ArrayList<>();
        boolean[] nearReplied = new boolean[1];
        try (InputStream input = Files.newInputStream(capture)) {
            Captures.read(
                    input,
                    analysis -> {
                        Packet packet = analysis.packet();
                        boolean toFar = analysis.source().equals(nearAddress);
                        if (toFar) {
                            sent.add(bytes(packet));
                        }
                        if (packet.opcode().role() == Opcode.Role.REQUEST) {
                            (toFar ? requests : ofFar).add(packet.psn());
                        }
                        if (analysis.message() instanceof CmMessage.Rep reply) {
                            replies.add(reply);
                            nearReplied[0] = toFar;
                        }
                    });
        }
        assertThat(requests).as("requests of the near side").isNotEmpty();
        assertThat(ofFar).as("requests of the far side").isNotEmpty();
        assertThat(replies).as("replies").isNotEmpty();
        CmMessage.Rep reply = replies.getLast();
        return new Recording(
                List.copyOf(sent),
                nearReplied[0] ? reply.localId() : reply.remoteId(),
                nearReplied[0] ? reply.remoteId() : reply.localId(),
                nearQueuePair,
                farQueuePair,
                requests.getFirst(),
                ofFar.getFirst());
    }

    private static byte[] bytes(Packet packet) {
        return packet.memory().asSlice(packet.at(), packet.bytes()).toArray(ValueLayout.JAVA_BYTE);
    }
}
