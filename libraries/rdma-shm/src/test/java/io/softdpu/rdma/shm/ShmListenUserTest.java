package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.UnixSocket;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OtherUser;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** Listeners and peers of another user, who has been let into the folder. */
@StartsProcesses
class ShmListenUserTest extends RogueFixture {

    /** Connects to the socket of its argument, and prints the answer. */
    static final class Stranger {
        private Stranger() {}

        /** Path of a socket. */
        public static void main(String[] arguments) {
            int socket = UnixSocket.create();
            System.out.println("connected errno=" + UnixSocket.connect(socket, arguments[0]));
            RogueBus.awaitReadable(socket);
            try (ReceivedMessage message = new ReceivedMessage(Frame.MAX_BYTES, 8)) {
                int length = DescriptorPassing.receive(socket, message);
                Frame frame = Frame.decode(message.segment(), length);
                System.out.println("answer " + frame);
            }
        }
    }

    @Test
    void shouldRefuseAPeerOfAnotherUser(Processes processes) throws Exception {
        OtherUser nobody = OtherUser.nobody();
        Rdma rdma = listener(1);
        Path socket = rogue.socketOf(RogueBus.nameOf(device));
        Files.setPosixFilePermissions(folder(), PosixFilePermissions.fromString("rwx--x--x"));
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rwxrwxrwx"));

        ChildProcess stranger =
                processes.start(
                        JavaCommand.ofClass(Stranger.class)
                                .withArguments(socket.toString())
                                .as(nobody));

        stranger.awaitLine("connected errno=0");
        String answer = stranger.awaitLine("^answer ");
        assertThat(answer)
                .contains("Refuse[code=" + Status.NOT_PERMITTED.code() + ",")
                .contains("uid=" + nobody.uid());
        assertThat(requests).isEmpty();
        assertThat(rdma.state()).isEqualTo(ContextState.STARTING);
        requireServing();
    }

    @Test
    void shouldNotConnectToASocketOfAnotherUser() throws Exception {
        OtherUser nobody = OtherUser.nobody();
        Rdma connector = start(nearDevice, 1, rdma -> {});
        int bare = rogue.serveBare(RogueBus.nameOf(device));
        nobody.own(rogue.socketOf(RogueBus.nameOf(device)));

        RdmaConnection here = connector.connect(address(), NO_DATA);
        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);

        assertThat(here.failure()).isEqualTo(Status.NOT_PERMITTED);
        assertThat(here.failureReason()).contains("uid=" + nobody.uid());
        assertThat(connector.state()).isEqualTo(ContextState.STARTING);
        rogue.close(bare);
    }
}
