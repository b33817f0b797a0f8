/** A program that uses softdpu. */
module outside {
    requires io.softdpu.comch;
    requires io.softdpu.compute;
    requires io.softdpu.topology.json;
}
