package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of measurements that cannot be made: they start nothing. */
class PerfUsageTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "latency --size 0|size is zero: option=--size, size=0",
                "latency --size 1537MiB|message size is illegal: option=--size, size=1537MiB,"
                        + " measurement=latency, expected=1 to 1536MiB",
                "rate --size 1GiB --window 5|messages of both processes need too much memory:"
                        + " option=--producers, producers=1, consumers=1, stream=false, window=5,"
                        + " size=1GiB, needed=10 GiB, limit=8 GiB",
                "latency --window 4|only one-way messages have a window:"
                        + " option=--window, window=4, measurement=latency, expected=no window",
                "control --window 4|option=--window, window=4, measurement=control",
                "control --size 4081|message size is illegal: option=--size, size=4081,"
                        + " measurement=control, expected=1 to 4080",
                "control --stream|no messages of a stream are measured:"
                        + " option=--stream, stream=true, measurement=control",
                "rate --window 9000|window is illegal: option=--window, window=9000, expected=1 to"
                        + " 8192",
                "latency --producers 2|only one-way messages have several producers:"
                        + " option=--producers, producers=2, measurement=latency, expected=1",
                "rate --producers 4 --consumers 2|number of consumers is illegal:"
                        + " option=--consumers, consumers=2, producers=4, expected=1 or as many as"
                        + " producers",
                "idle|number of idle clients is illegal: option=--clients, clients=none,"
                        + " measurement=idle, expected=1 to 512",
                "idle --clients 513|option=--clients, clients=513, measurement=idle, expected=1 to"
                        + " 512",
                "rate --clients 2|option=--clients, clients=2, measurement=rate, expected=none",
                "rate --clients 0|option=--clients, clients=0, measurement=rate, expected=none",
                "rate --import 1MiB|imported size is illegal: option=--import, import=1MiB,"
                        + " measurement=rate, expected=none",
                "idle --clients 2 --import 5GiB|option=--import, import=5GiB, measurement=idle,"
                        + " expected=at most 4GiB",
                "idle --clients 2 --size 64|option=--size, size=64, measurement=idle, expected=no"
                        + " size",
                "idle --clients 2 --window 4|option=--window, window=4, measurement=idle",
                "idle --clients 2 --producers 2|option=--producers, producers=2, measurement=idle",
                "idle --clients 2 --stream|option=--stream, stream=true, measurement=idle",
                "idle --clients 2 --repeat 2|idle connections are measured once: option=--repeat,"
                        + " repeat=2, measurement=idle, expected=1",
                "rate --repeat 0|number of runs is illegal: option=--repeat, repeat=0, expected=1"
                        + " to 1000",
                "rate --cpu 0|option=--cpu, cpu=0, expected=HOST,DPU such as 0,1",
                "rate --size 3GiB|message size is illegal: option=--size, size=3GiB,"
                        + " measurement=rate, expected=1 to 1536MiB",
                "rate --json /no/such/folder/a.json|option=--json, file=/no/such/folder/a.json",
                "speed|no such measurement: measurement=speed, expected=latency, rate,"
                        + " bandwidth, control or idle",
                "rate --wait long|no such way to wait: option=--wait, wait=long, expected=busy,"
                        + " adaptive or event"
            })
    void shouldRefuseWhatCannotBeMeasuredOfComch(String arguments, String reason) {
        Run.ofWords("perf comch " + arguments).assertRefused(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "latency|value is missing: option=--op, expected=--op=OP",
                "latency --op write --wait adaptive|a peer that is written to is not notified, and"
                        + " polls its memory: option=--wait, wait=adaptive, measurement=latency,"
                        + " op=write, expected=busy",
                "latency --op read --window 4|latency is that of one operation at a time:"
                        + " option=--window, window=4, measurement=latency, expected=no window",
                "bandwidth --op cmp-swap|atomic operations have no bandwidth: option=--op,"
                        + " op=cmp-swap, measurement=bandwidth, expected=latency or rate",
                "rate --op fetch-add --size 16|size is illegal: option=--size, size=16,"
                        + " op=fetch-add, expected=8, or no size",
                "rate --op read --size 3GiB|size is illegal: option=--size, size=3GiB, expected=1"
                        + " to 2GiB",
                "rate --op read --size 0|size is zero: option=--size, size=0",
                "rate --op read --window 9000|window is illegal: option=--window, window=9000,"
                        + " expected=1 to 8192",
                "bandwidth --op read --size 1GiB --window 5|operations of both processes need too"
                        + " much memory: option=--window, window=5, size=1GiB, needed=10 GiB,"
                        + " limit=8 GiB",
                "rate --op copy|no such operation: option=--op, op=copy, expected=write, read,"
                        + " send, write-imm, fetch-add or cmp-swap",
                "rate --op read --wait long|no such way to wait: option=--wait, wait=long,"
                        + " expected=busy, adaptive or event",
                "rate --op read --cpu 0|option=--cpu, cpu=0, expected=HOST,DPU such as 0,1",
                "control --op read|no such measurement: measurement=control, expected=latency,"
                        + " rate or bandwidth",
                "rate --op read --json /no/such/folder/a.json|option=--json,"
                        + " file=/no/such/folder/a.json"
            })
    void shouldRefuseWhatCannotBeMeasuredOfRdma(String arguments, String reason) {
        Run.ofWords("perf rdma " + arguments).assertRefused(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rate --wait busy|only round trips wait: option=--wait, wait=busy,"
                        + " measurement=rate, expected=no way to wait",
                "rate --pace 2ms|only round trips have a pace: option=--pace, pace=2ms,"
                        + " measurement=rate, expected=no pace",
                "latency --pace 3s|pace is illegal: option=--pace, pace=3s, seconds=2.0,"
                        + " expected=at most the time of the run",
                "latency --pace 0us|time is illegal: option=--pace, pace=0us, expected=1us to 60s",
                "latency --pace 2|time is illegal: option=--pace, pace=2, expected=1us to 60s",
                "latency --pace 61s|time is illegal: option=--pace, pace=61s",
                "latency --wait adaptive|no such way to wait: option=--wait, wait=adaptive,"
                        + " expected=busy, yield or event",
                "latency --cpu 0|option=--cpu, cpu=0, expected=HOST,DPU such as 0,1",
                "bandwidth|no such measurement: measurement=bandwidth, expected=latency or rate",
                "rate --json /no/such/folder/a.json|option=--json, file=/no/such/folder/a.json"
            })
    void shouldRefuseWhatCannotBeMeasuredOfSyncEvents(String arguments, String reason) {
        Run.ofWords("perf sync-event " + arguments).assertRefused(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rate --op read|value is missing: option=--volume",
                "rate --volume null:1M|value is missing: option=--op",
                "rate --volume fiel:x --op read|URI of a block device is refused:"
                        + " option=--volume, reason=no such scheme, scheme=fiel, uri=fiel:x,"
                        + " expected=",
                "rate --volume null:1M --op read --size 100|size is illegal: option=--size,"
                        + " size=100, expected=a multiple of 512, at most 1GiB",
                "rate --volume null:4096 --op read --size 8KiB|size is too large for the volume:"
                        + " sizeBytes=8192, blockDevice=null:4096, limit=4096",
                "rate --volume null:1G --op read --size 64MiB|size is too large for the volume:"
                        + " sizeBytes=67108864",
                "latency --volume null:1M --op read --depth 2|latency is that of one operation at"
                        + " a time: option=--depth, depth=2, measurement=latency, expected=1",
                "rate --volume null:1M --op read --depth 9000|depth is illegal: option=--depth,"
                        + " depth=9000, expected=1 to 8192",
                "rate --volume null:1G --op read --size 1GiB --depth 9|operations need too much"
                        + " memory: option=--depth, depth=9, threads=1, size=1GiB, limit=8 GiB",
                "rate --volume null:1M --op read --threads 0|number of threads is illegal:"
                        + " option=--threads, threads=0, expected=1 to 64",
                "rate --volume null:1M --op read --fua|only writes have FUA: option=--fua,"
                        + " fua=true, op=read, expected=write",
                "rate --volume null:1M --op flush --random|a flush has no offset:"
                        + " option=--random, random=true, op=flush",
                "rate --volume null:1M --op flush --size 4KiB|a flush has no size: option=--size,"
                        + " size=4KiB, op=flush, expected=no size",
                "bandwidth --volume null:1M --op flush|flushes have no bandwidth: option=--op,"
                        + " op=flush, measurement=bandwidth",
                "rate --volume null:1M --op write|writes change the volume: option=--overwrite,"
                        + " overwrite=false, volume=null:1M, expected=--overwrite",
                "rate --volume null:1M --op trim|no such operation: option=--op, op=trim,"
                        + " expected=read, write or flush"
            })
    void shouldRefuseWhatCannotBeMeasuredOfABlockDevice(String arguments, String reason) {
        Run.ofWords("perf block " + arguments).assertRefused(reason);
    }

    @Test
    void shouldNameTheCommandsForUsersWhereNoneIsGiven() {
        Run perf = Run.of("perf");

        assertThat(perf.exit()).isEqualTo(ExitCode.USAGE.code());
        assertThat(perf.errorLines().getFirst())
                .isEqualTo(
                        "softdpu: command is missing: expected=one of comch, sync-event, rdma,"
                                + " block");
    }

    @Test
    @StartsProcesses
    void shouldNameTheDeviceThatATopologyLacksAndStartNothing(
            @TempDir Path folder, Processes processes) throws IOException {
        Path card =
                Files.writeString(
                        folder.resolve("card.json"),
                        """
                        {"softdpu_topology": 1, "name": "plain", "functions": [
                          {"side": "host", "interface_name": "h0", "ibdev_name": "mlx5_0",
                           "function_type": "PF", "pci_address": "41:00.0", "ipv4": "127.65.0.1",
                           "mac": "02:53:44:41:00:01", "vuid": "plain-h0",
                           "active_rate_bits_per_second": 100000000000}]}
                        """);
        ChildProcess demo =
                processes.start(
                        Pipeline.command("demo").withEnvironment("SOFTDPU_TOPOLOGY", "" + card));
        int exit = demo.awaitExit();
        for (Run run :
                List.of(
                        Run.of("perf", "comch", "latency", "--topology", "" + card),
                        new Run(exit, demo.outputLines(), demo.errorLines()))) {
            assertThat(run.exit()).isEqualTo(ExitCode.FAILED.code());
            assertThat(run.errorLines())
                    .singleElement()
                    .asString()
                    .startsWith(
                            "softdpu: NOT_FOUND: topology lacks a device: topology=plain,"
                                + " expected=a function of the host that a port of the DPU made");
            assertThat(run.outputLines()).isEmpty();
        }
    }
}
