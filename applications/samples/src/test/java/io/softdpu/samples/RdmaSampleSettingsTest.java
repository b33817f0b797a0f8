package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.OwnFabric;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the arguments of the RDMA samples. */
@ExtendWith(OwnFabric.class)
class RdmaSampleSettingsTest {
    private static SampleSettings with(SampleOption option, String value) {
        return new SampleSettings(Topology.builtin(), Map.of(option, value));
    }

    /** The built-in card, where the ports of the DPU but the second one have no tasks of a type. */
    private static Topology onlyOnSecondPort(RdmaTaskType type) {
        Topology.Builder card = Topology.builder("one port");
        for (PciFunction function : Topology.builtin().functions()) {
            boolean has = function.interfaceName().equals("p1");
            card.add(
                    has
                            ? function
                            : function.toBuilder()
                                    .limit(RdmaCapabilities.tasksLimit(type).id(), 0)
                                    .build());
        }
        return card.build();
    }

    private static void assertFails(Status status, ThrowingCallable call, String... parts) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContainingAll(parts);
    }

    /** An ibdev name is one of each side: that of the sample's own side wins. */
    @ParameterizedTest
    @CsvSource({
        "DPU,mlx5_1,dpu,p1",
        "HOST,mlx5_1,host,pf1",
        "DPU,mlx5_4,host,pf1vf0",
        "DPU,0b:00.0,host,pf0",
        "HOST,0000:03:00.1,dpu,p1",
        "HOST,p0s0,dpu,p0s0",
        "HOST,t0,target,t0"
    })
    @Clause({"rdma-202", "rdma-211"})
    void shouldRunOnTheSideOfTheNamedDevice(Side own, String named, String side, String device) {
        SampleSettings settings = with(RdmaSampleSettings.DEVICE, named);
        try (Machine machine = RdmaSampleSettings.machine(settings, own)) {
            assertThat(machine.side().id()).isEqualTo(side);
            assertThat(RdmaSampleSettings.device(machine, settings, List.of()).interfaceName())
                    .isEqualTo(device);
        }
    }

    @Test
    @Clause({"rdma-202", "rdma-213"})
    void shouldTakeTheFirstDeviceThatSupportsTheTask() {
        for (RdmaTaskType type :
                List.of(RdmaTaskType.READ, RdmaTaskType.WRITE_IMMEDIATE, RdmaTaskType.RECEIVE)) {
            SampleSettings settings = new SampleSettings(onlyOnSecondPort(type), Map.of());
            try (Machine machine = RdmaSampleSettings.machine(settings, Side.DPU)) {
                DeviceInfo device = RdmaSampleSettings.device(machine, settings, List.of(type));
                assertThat(device.interfaceName()).as("for %s", type).isEqualTo("p1");
                assertThat(RdmaSampleSettings.device(machine, settings, List.of()).interfaceName())
                        .as("without a task")
                        .isEqualTo("p0");
            }
            try (Machine machine = RdmaSampleSettings.machine(settings, Side.HOST)) {
                assertFails(
                        Status.NOT_FOUND,
                        () -> RdmaSampleSettings.device(machine, settings, List.of(type)),
                        "topology lacks a device for this sample",
                        "a device of the side host for RDMA with tasks " + type);
            }
        }
    }

    /** A sample with tasks of several types needs all of them. */
    @ParameterizedTest
    @EnumSource(
            value = RdmaTaskType.class,
            names = {"REMOTE_SYNC_EVENT_GET", "REMOTE_SYNC_EVENT_NOTIFY_SET"})
    @Clause({"rdma-213", "rdma-275"})
    void shouldTakeTheFirstDeviceThatSupportsAllTasks(RdmaTaskType type) {
        List<RdmaTaskType> both = new RdmaSyncEventRequester().tasks();
        SampleSettings settings = new SampleSettings(onlyOnSecondPort(type), Map.of());
        try (Machine machine = RdmaSampleSettings.machine(settings, Side.DPU)) {
            assertThat(RdmaSampleSettings.device(machine, settings, both).interfaceName())
                    .isEqualTo("p1");
        }
        SampleSettings named =
                new SampleSettings(onlyOnSecondPort(type), Map.of(RdmaSampleSettings.DEVICE, "p0"));
        try (Machine machine = RdmaSampleSettings.machine(named, Side.DPU)) {
            assertFails(
                    Status.NOT_SUPPORTED,
                    () -> RdmaSampleSettings.device(machine, named, both),
                    "tasks=REMOTE_SYNC_EVENT_NOTIFY_SET and REMOTE_SYNC_EVENT_GET");
        }
    }

    @Test
    @Clause("rdma-213")
    void shouldRefuseANamedDeviceWithoutTheTask() {
        SampleSettings settings =
                new SampleSettings(
                        onlyOnSecondPort(RdmaTaskType.SEND),
                        Map.of(RdmaSampleSettings.DEVICE, "p0"));
        try (Machine machine = RdmaSampleSettings.machine(settings, Side.DPU)) {
            assertFails(
                    Status.NOT_SUPPORTED,
                    () -> RdmaSampleSettings.device(machine, settings, List.of(RdmaTaskType.SEND)),
                    "device does not support the sample's tasks: option=--device",
                    "tasks=SEND");
        }
    }

    @Test
    void shouldNameTheDevicesWhereNoSideHasTheNamedOne() {
        SampleSettings settings = with(RdmaSampleSettings.DEVICE, "mlx5_9");
        try (Machine machine = RdmaSampleSettings.machine(settings, Side.DPU)) {
            assertFails(
                    Status.NOT_FOUND,
                    () -> RdmaSampleSettings.device(machine, settings, List.of()),
                    "no such device: device=mlx5_9, side=dpu");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "-1", "first", ""})
    @Clause("rdma-206")
    void shouldRefuseAGidIndexThatTheDeviceDoesNotHave(String index) {
        SampleSettings settings = with(RdmaSampleSettings.GID_INDEX, index);
        try (Machine machine = RdmaSampleSettings.machine(settings, Side.DPU);
                Device device = RdmaSampleSettings.device(machine, settings, List.of()).open()) {
            assertFails(
                    Status.INVALID_VALUE,
                    () -> RdmaSampleSettings.gidIndex(settings, device),
                    "index of the GID is illegal: option=--gid-index, index=" + index,
                    "expected=0 to 1");
            assertThat(RdmaSampleSettings.gidIndex(SampleSettings.NONE, device)).isZero();
            assertThat(RdmaSampleSettings.gidIndex(with(RdmaSampleSettings.GID_INDEX, "1"), device))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rdma-send|use-rdma-cm local-descriptor-path=x address=127.3.0.1"
                        + "|option belongs to another way to connect:"
                        + " option=--local-descriptor-path, expected=without --use-rdma-cm",
                "rdma-send|use-rdma-cm remote-descriptor-path=x address=127.3.0.1"
                        + "|option=--remote-descriptor-path",
                "rdma-receive|local-descriptor-path=x remote-descriptor-path=y port=1"
                        + "|option=--port, expected=--use-rdma-cm beside it",
                "rdma-send|local-descriptor-path=x remote-descriptor-path=y address=127.3.0.1"
                        + "|option=--address, expected=--use-rdma-cm beside it",
                "rdma-send|use-rdma-cm|value is missing: option=--address",
                "rdma-send|use-rdma-cm address=localhost|not an IPv4 address: text=localhost",
                "rdma-send|use-rdma-cm address=127.3.0.1 port=0|port=0, expected=1 to 65535",
                "rdma-receive|use-rdma-cm port=65536|port=65536, expected=1 to 65535",
                "rdma-receive|use-rdma-cm port=first|not a port: option=--port, port=first",
                "rdma-receive|port=first|option=--port, expected=--use-rdma-cm beside it",
                "rdma-receive|remote-descriptor-path=y|value is missing: option=--local-desc",
                "rdma-receive|local-descriptor-path=x|value is missing: option=--remote-desc"
            })
    void shouldRefuseOptionsThatDoNotBelongTogether(String name, String given, String reason) {
        Sample sample = SampleProgram.find(name);
        Map<SampleOption, String> values = new HashMap<>();
        for (String each : given.split(" ")) {
            String option = each.replaceFirst("=.*", "");
            sample.options().stream()
                    .filter(known -> known.longName().equals(option))
                    .forEach(known -> values.put(known, each.replaceFirst("[^=]*=?", "")));
        }
        PrintStream out =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        assertFails(
                Status.INVALID_VALUE,
                () -> sample.run(new SampleSettings(Topology.builtin(), values), out),
                reason);
    }

    @Test
    void shouldUseTheNamedProviderAndNameThoseThatThereAreForAnother() {
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                Rdma rdma = Rdma.create(device)) {
            RdmaSampleSettings.setProvider(SampleSettings.NONE, device, rdma);
            RdmaSampleSettings.setProvider(with(RdmaSampleSettings.PROVIDER, "auto"), device, rdma);
            assertThat(rdma.provider()).isEqualTo("auto");
            RdmaSampleSettings.setProvider(with(RdmaSampleSettings.PROVIDER, "shm"), device, rdma);
            assertThat(rdma.provider()).isEqualTo("shm");
            assertFails(
                    Status.NOT_FOUND,
                    () ->
                            RdmaSampleSettings.setProvider(
                                    with(RdmaSampleSettings.PROVIDER, "ib"), device, rdma),
                    "option=--provider, provider=ib, device=",
                    "expected=auto or one of [shm");
        }
    }

    /** Each of the samples sets it before anything else is done. */
    @ParameterizedTest
    @MethodSource("rdmaSamples")
    void shouldRefuseAnUnknownProvider(String name) {
        Sample sample = SampleProgram.find(name);
        Map<SampleOption, String> given = new HashMap<>();
        given.put(RdmaSampleSettings.PROVIDER, "ib");
        given.put(RdmaSampleSettings.USE_RDMA_CM, "");
        given.put(RdmaSampleSettings.ADDRESS, "127.3.0.1");
        for (SampleOption option : sample.options()) {
            if (option.longName().equals("mmap-descriptor-path")) {
                given.put(option, "/nowhere/memory");
            }
        }
        PrintStream out =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        assertThat(sample.options()).contains(RdmaSampleSettings.PROVIDER);
        assertFails(
                Status.NOT_FOUND,
                () -> sample.run(new SampleSettings(Topology.builtin(), given), out),
                "option=--provider, provider=ib");
    }

    private static Stream<String> rdmaSamples() {
        return Samples.all().stream().filter(RdmaSample.class::isInstance).map(Sample::name);
    }

    /** A program that read its own descriptor would wait for itself. */
    @ParameterizedTest
    @CsvSource({"a,a,b", "a,b,a", "a,b,b", "a,x/../a,b"})
    void shouldRefuseTwoDescriptorsInOneFile(String local, String remote, String memory) {
        Map<SampleOption, String> given = new HashMap<>();
        given.put(RdmaSampleSettings.LOCAL_DESCRIPTOR, "/nowhere/" + local);
        given.put(RdmaSampleSettings.REMOTE_DESCRIPTOR, "/nowhere/" + remote);
        given.put(RdmaSampleSettings.EXPORTED_MMAP, "/nowhere/" + memory);
        PrintStream out =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        assertFails(
                Status.INVALID_VALUE,
                () ->
                        SampleProgram.find("rdma-read-responder")
                                .run(new SampleSettings(Topology.builtin(), given), out),
                "descriptors are in one file: local=/nowhere/a");
    }

    @Test
    void shouldRefuseItsOwnDescriptorByALink(@TempDir Path folder) throws IOException {
        Path own = folder.resolve("own");
        Path link = Files.createSymbolicLink(folder.resolve("link"), own);
        Map<SampleOption, String> given = new HashMap<>();
        given.put(RdmaSampleSettings.LOCAL_DESCRIPTOR, own.toString());
        given.put(RdmaSampleSettings.REMOTE_DESCRIPTOR, link.toString());
        given.put(RdmaSampleSettings.EXPORTED_MMAP, folder.resolve("memory").toString());
        PrintStream out =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        assertFails(
                Status.INVALID_VALUE,
                () ->
                        SampleProgram.find("rdma-read-responder")
                                .run(new SampleSettings(Topology.builtin(), given), out),
                "descriptor of the peer is the one of this side: file=" + link);
        assertThat(own).doesNotExist();
        assertThat(link).isSymbolicLink();
    }
}
