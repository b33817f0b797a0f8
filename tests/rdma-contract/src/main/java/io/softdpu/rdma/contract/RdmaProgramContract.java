package io.softdpu.rdma.contract;

import static org.junit.jupiter.api.Assertions.assertAll;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.FarProcess.FarProgram;
import io.softdpu.rdma.contract.ProgramProcess.Program;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.function.Executable;

/**
 * Base class of contract tests whose far side is in another process: one for all tests of a class,
 * and more for tests that kill theirs. At the end of a test its programs have ended without a
 * failure.
 */
@StartsProcesses
public abstract class RdmaProgramContract extends RdmaContract {
    private static @Nullable Processes processesOfClass;
    private static @Nullable FarProcess ofClass;

    private final List<FarProcess> used = new ArrayList<>();
    private final List<FarProcess> ofTest = new ArrayList<>();

    /** For subclasses. */
    protected RdmaProgramContract() {}

    @BeforeAll
    static void startProcessOfClass(Processes processes) {
        processesOfClass = processes;
        ofClass = FarProcess.start(processes);
    }

    @AfterAll
    static void forgetProcessOfClass() {
        processesOfClass = null;
        ofClass = null;
    }

    /**
     * The process of the class; another one for the tests after one that has ended it, or has left
     * a program in it.
     */
    private static FarProcess processOfClass(List<FarProcess> usedByTest) {
        FarProcess process = ofClass;
        Processes processes = processesOfClass;
        if (process == null || processes == null) {
            throw new IllegalStateException("outside a class");
        }
        if (!process.isUsable() && !usedByTest.contains(process)) {
            process.close();
            process = FarProcess.start(processes);
            ofClass = process;
        }
        return process;
    }

    /** Starts a process that ends with the test; for what kills it, or needs several. */
    final FarProcess startProcess(Processes processes) {
        FarProcess started = FarProcess.start(processes);
        ofTest.add(started);
        return started;
    }

    /** Runs a program in the process of the class. */
    final FarProgram run(Program program, String... arguments) {
        return runIn(processOfClass(used), program, arguments);
    }

    final FarProgram runIn(FarProcess process, Program program, String... arguments) {
        List<String> words = new ArrayList<>();
        words.add(environment().getClass().getName());
        words.add(folder().toString());
        words.addAll(List.of(arguments));
        if (!used.contains(process)) {
            used.add(process);
        }
        return process.run(program, words);
    }

    /** Connects a peer, which it starts, to a program that prints its connection's blob. */
    static RdmaConnection connectTo(Peer near, FarProgram program, String connected) {
        near.start();
        RdmaConnection connection = near.rdma.exportConnection();
        near.rdma.connect(program.awaitBytes(PeerProgram.CONNECTION), connection);
        program.tell(HexFormat.of().formatHex(connection.blob()));
        Peer.drive("connection", () -> connection.state() == RdmaConnection.State.CONNECTED, near);
        program.awaitLine(connected);
        return connection;
    }

    /**
     * Whether memory of a peer is refused because its process has ended. Until then the task is
     * refused since its list is too long, without an effect.
     */
    static boolean isReset(Peer near, RdmaConnection connection, Mmap memory) {
        Buf tooLong = near.room(0, 8);
        for (int i = 0; i < near.rdma.maxSendBufferListLength(); i++) {
            tooLong.chain(near.room(0, 8));
        }
        Buf source = near.inventory.bufByData(memory, 0, 8);
        return near.read(connection, source, tooLong, 0) == Status.CONNECTION_RESET;
    }

    @Override
    final void endOthers() {
        assertAll(
                Stream.concat(
                        used.stream().<Executable>map(process -> process::endPrograms),
                        ofTest.stream().<Executable>map(process -> process::close)));
    }
}
