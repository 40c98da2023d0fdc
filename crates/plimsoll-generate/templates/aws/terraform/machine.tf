variable "image" {
  description = "The public parameter that has the id of the image"
  type        = string
  default     = "{{image}}"
}

variable "ssh_public_key_file" {
  description = "The public half of the key to log in with"
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "ssh_from" {
  description = "Who may reach the machine by SSH, as 203.0.113.7/32; nobody when it is empty"
  type        = string
  default     = "{{ssh_from}}"
}

data "aws_ssm_parameter" "image" {
  name = var.image
}

# Nothing reaches the machine from outside unless ssh_from says who may.
resource "aws_security_group" "machine" {
  name        = "${var.name}-machine"
  description = "plimsoll: the machine"
  vpc_id      = aws_vpc.all.id
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  count             = var.ssh_from == "" ? 0 : 1
  security_group_id = aws_security_group.machine.id
  cidr_ipv4         = var.ssh_from
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
}

resource "aws_vpc_security_group_egress_rule" "all" {
  security_group_id = aws_security_group.machine.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

resource "aws_key_pair" "machine" {
  key_name   = var.name
  public_key = file(pathexpand(var.ssh_public_key_file))
}

# It has no role: it needs none, because it calls nothing of AWS.
# costs: the machine, its disk of the system, and a public address
resource "aws_instance" "machine" {
  ami                    = data.aws_ssm_parameter.image.insecure_value
  instance_type          = local.machine_type
  availability_zone      = var.zone
  subnet_id              = aws_subnet.all.id
  vpc_security_group_ids = [aws_security_group.machine.id]
  key_name               = aws_key_pair.machine.key_name
  # Older types have full bandwidth to volumes only when it is asked for.
  ebs_optimized = true
  tags          = { Name = var.name }

  metadata_options {
    http_tokens = "required"
  }

  root_block_device {
    volume_type = "gp3"
    volume_size = 16
  }

  lifecycle {
    # A newer image is no reason to make the machine anew.
    ignore_changes = [ami]
  }
}

# costs: each volume
resource "aws_ebs_volume" "disk" {
  for_each          = local.disks
  availability_zone = var.zone
  type              = each.value.type
  size              = each.value.size_gib
  iops              = try(each.value.iops, null)
  throughput        = try(each.value.mib_per_s, null)
  tags              = { Name = "${var.name}-${each.key}" }
}

# The name of a device is asked for here, and is not what the machine calls it: prepare.sh finds volumes by their ids.
resource "aws_volume_attachment" "disk" {
  for_each    = local.disks
  device_name = each.value.device
  volume_id   = aws_ebs_volume.disk[each.key].id
  instance_id = aws_instance.machine.id
  # What is mounted on a machine that runs would not let go.
  stop_instance_before_detaching = true
}

output "address" {
  description = "Where the machine is"
  value       = aws_instance.machine.public_ip
}

output "disk_ids" {
  description = "The file disk-ids, for prepare.sh"
  value       = join("", [for name, disk in aws_ebs_volume.disk : "${name} ${disk.id}\n"])
}
