# The resource below each "costs:" is paid for until it is destroyed. Written by plimsoll generate.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.25"
    }
  }
}

# Who you are comes from the environment or from aws configure: nothing of it stands here.
provider "aws" {
  region = var.region

  default_tags {
    tags = local.tags
  }
}

variable "name" {
  description = "What everything is called by"
  type        = string
  default     = "{{name}}"
}

variable "region" {
  description = "The region; with another one goes another zone"
  type        = string
  default     = "{{region}}"
}

variable "zone" {
  description = "The zone that disks and the machine are in"
  type        = string
  default     = "{{zone}}"
}

# A network of its own.
resource "aws_vpc" "all" {
  cidr_block           = "10.42.0.0/16"
  enable_dns_hostnames = true
  tags                 = { Name = var.name }
}

resource "aws_internet_gateway" "all" {
  vpc_id = aws_vpc.all.id
  tags   = { Name = var.name }
}

resource "aws_route_table" "all" {
  vpc_id = aws_vpc.all.id
  tags   = { Name = var.name }

  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.all.id
  }
}

resource "aws_subnet" "all" {
  vpc_id                  = aws_vpc.all.id
  cidr_block              = "10.42.0.0/24"
  availability_zone       = var.zone
  map_public_ip_on_launch = true
  tags                    = { Name = var.name }

  lifecycle {
    precondition {
      condition     = startswith(var.zone, var.region)
      error_message = "The zone ${var.zone} is in another region than ${var.region}: set TF_VAR_zone with TF_VAR_region."
    }
  }
}

resource "aws_route_table_association" "all" {
  subnet_id      = aws_subnet.all.id
  route_table_id = aws_route_table.all.id
}
